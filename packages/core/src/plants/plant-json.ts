import type { PlantChange, StoredPlant } from '@plant-store/schemas';
import { type ColumnKind, plantColumns } from '@plant-store/schemas/plain';

const columns = Object.entries(plantColumns);

/** The properties whose types JSON lacks, with superjson's names for these types. */
export const typedFields = columns.flatMap(([field, { kind, isOptional }]) => {
  const type = { int64: 'bigint', time: 'Date', number: undefined, text: undefined }[kind];
  return type === undefined ? [] : [{ field, kind, type, isOptional }];
});

/** The earliest and the latest time in Postgres that a Date can represent. */
const [firstTime, lastTime] = ['4713-01-01 00:00:00+00 BC', '275760-09-13 00:00:00+00'];

/**
 * SQL that writes a time as JSON. A year outside the range from 1 to 9999 has ECMAScript's expanded form
 * (ECMA-262 §21.4.1.32.1). A time that no Date can represent, such as `infinity`, becomes the nearest
 * possible time.
 */
function timeJson(column: string): string {
  const utc = `(least(greatest(${column}, '${firstTime}'), '${lastTime}') at time zone 'UTC')`;
  const year = `extract(year from ${utc})::int`;
  const expandedYear = `to_char(${year} + (${year} < 0)::int, 'SG000000')`;
  return `case when ${column} >= '0001-01-01 00:00:00+00' and ${column} < '10000-01-01 00:00:00+00'
    then to_char(${column} at time zone 'UTC', '\\"YYYY-MM-DD"T"HH24:MI:SS.MS"Z"\\"')
    else '"' || ${expandedYear} || to_char(${utc}, '-MM-DD"T"HH24:MI:SS.MS"Z"\\"') end`;
}

const jsonSql: Record<ColumnKind, (column: string) => string> = {
  int64: (column) => column,
  number: (column) => `to_json(${column})`,
  text: (column) => `to_json(${column})`,
  time: timeJson,
};

/** SQL that writes a row as the JSON of a stored plant. Its ids are integers. */
export const plantJson: string = columns
  .map(([field, { name, kind, isOptional }], i) => {
    const property = `'${i > 0 ? ',' : '{'}"${field}":' || ${jsonSql[kind](name)}`;
    return isOptional ? `coalesce(${property}, '')` : property;
  })
  .concat(`'}'`)
  .join(' || ');

/** The properties that are ids. No text in JSON can contain such a key with its quotes. */
const ids = columns.filter(([, { kind }]) => kind === 'int64').map(([field]) => field);
const idProperty = new RegExp(`"(${[...ids, 'next'].join('|')})":(-?\\d+)`, 'g');

/** Changes the ids in JSON from integers to strings, because `JSON.parse` would round large integers. */
export function withTextIds(json: string): string {
  return json.replace(idProperty, '"$1":"$2"');
}

/** Parses a plant from the JSON that `plantJson` writes. */
export function parsePlant(json: string): StoredPlant {
  return toStoredPlant(JSON.parse(withTextIds(json)));
}

/** Parses a list of plants from the JSON that `plantJson` writes. */
export function parsePlants(json: string): StoredPlant[] {
  return JSON.parse(withTextIds(json)).map(toStoredPlant);
}

/** Parses a list of changes. The plant of each change is in the JSON that `plantJson` writes. */
export function parseChanges(json: string): PlantChange[] {
  const changes: { type: PlantChange['type']; plant: object }[] = JSON.parse(withTextIds(json));
  return changes.map(({ type, plant }) => ({ type, plant: toStoredPlant({ ...plant }) }));
}

function toStoredPlant(plant: Record<string, unknown>): StoredPlant {
  for (const { field, kind } of typedFields) {
    const text = plant[field];
    if (typeof text === 'string') plant[field] = kind === 'int64' ? BigInt(text) : new Date(text);
  }
  return plant as unknown as StoredPlant; // `plantJson` writes every property of a plant.
}
