import type { PlantChange, StoredPlant } from '@plant-store/schemas';
import { plantColumns } from '@plant-store/schemas/plain';

const columns = Object.entries(plantColumns);

/** The properties whose types JSON lacks, with superjson's names for these types. */
export const typedFields = columns.flatMap(([field, { kind }]) => {
  const type = { int64: 'bigint', time: 'Date', number: undefined, text: undefined }[kind];
  return type === undefined ? [] : [{ field, kind, type }];
});

/**
 * SQL for the JSON of each column. For many plants, one JSON object for each plant would take Postgres three
 * times as long as one JSON array for each column. Without the prefix `pg_catalog.`, Postgres might run a
 * function of another schema.
 */
const columnsAs = (json: 'json_agg' | 'to_json', filter = '') =>
  columns.map(([, { name, kind }]) => {
    const value = kind === 'time' ? `${name} at time zone 'UTC'` : name;
    return `(pg_catalog.${json}(${value}) ${filter})::text`;
  });

/** SQL for the columns of one plant. */
export const plantJson: string[] = columnsAs('to_json');

/**
 * SQL that aggregates each column of several plants to an array.
 *
 * @param filter a `filter` clause
 */
export const columnsJson = (filter?: string): string[] => columnsAs('json_agg', filter);

/** Returns the ids in the columns of plants. */
export function idTexts([ids]: readonly (string | null)[]): string[] {
  return ids?.match(jsonValue) ?? [];
}

/**
 * Makes the JSON of each plant from the columns that `plantJson` or `columnsJson` selects. The JSON has no
 * property for a null, even if the operator has removed NOT NULL from the column.
 */
export function plantTexts(arrays: readonly (string | null)[]): string[] {
  const [ids = [], ...others] = columns.map(([field, { kind }], i) => {
    const before = `${i === 0 ? '{' : ','}"${field}":`;
    const values: string[] = arrays[i]?.match(jsonValue) ?? [];
    return values.map((value) => {
      if (value === 'null') return '';
      return before + (kind === 'time' ? timeJson(value) : value);
    });
  });
  return ids.map((id, row) => {
    let plant = id;
    for (const column of others) plant += column[row] ?? '';
    return `${plant}}`;
  });
}

/** Matches each text, number and null in a JSON array. */
const jsonValue = /"[^"\\]*(?:\\.[^"\\]*)*"|[^\s,[\]]+/g;

/** The earliest time in Postgres, and the latest time that a Date can represent. */
const [firstTime, lastTime] = ['"-004713-11-24T00:00:00.000Z"', '"+275760-09-13T00:00:00.000Z"'];

/**
 * Writes a time of Postgres in the format of `Date#toISOString`. A time that no Date can represent, such as
 * `infinity`, becomes the nearest possible time. A year outside the range from 0 to 9999 has a sign and six
 * digits (ECMA-262 §21.4.1.32.1).
 *
 * @param time a timestamp in UTC as JSON: `"2026-11-23T19:40:03.123456"`, perhaps with ` BC`
 */
function timeJson(time: string): string {
  if (time[5] === '-' && time.at(-2) !== 'C') {
    if (time.length > 24) return `${time.slice(0, 24)}Z"`;
    const [seconds, fraction = ''] = time.slice(0, -1).split('.');
    return `${seconds}.${fraction.padEnd(3, '0')}Z"`;
  }
  const [, yearText, rest, bc] = /^"(\d+)(-\S+?)( BC)?"$/.exec(time) ?? [];
  if (rest === undefined) return time === '"-infinity"' ? firstTime : lastTime;
  const year = bc ? 1 - Number(yearText) : Number(yearText);
  const sign = year < 0 ? '-' : '+';
  const written = year === 0 ? '0000' : sign + String(Math.abs(year)).padStart(6, '0');
  const json = timeJson(`"2000${rest}"`).replace('2000', written);
  return year > 9_999 && json > lastTime ? lastTime : json;
}

/**
 * The properties that are ids. `idProperty` cannot match inside a JSON string, because the quotes inside a
 * string are escaped.
 */
const ids = columns.filter(([, { kind }]) => kind === 'int64').map(([field]) => field);
const idProperty = new RegExp(`"(${[...ids, 'next'].join('|')})":(-?\\d+)`, 'g');

/** Changes the ids in JSON from integers to strings, because `JSON.parse` would round large integers. */
export function withTextIds(json: string): string {
  return json.replace(idProperty, '"$1":"$2"');
}

/** Parses the JSON of a plant. */
export function parsePlant(json: string): StoredPlant {
  return toStoredPlant(JSON.parse(withTextIds(json)));
}

/** Parses the plants in the JSON of a page. */
export function parsePage(json: string): StoredPlant[] {
  return JSON.parse(withTextIds(json)).plants.map(toStoredPlant);
}

/** Parses the JSON of a list of changes. */
export function parseChanges(json: string): PlantChange[] {
  const changes: { type: PlantChange['type']; plant: object }[] = JSON.parse(withTextIds(json));
  return changes.map(({ type, plant }) => ({ type, plant: toStoredPlant({ ...plant }) }));
}

function toStoredPlant(plant: Record<string, unknown>): StoredPlant {
  for (const { field, kind } of typedFields) {
    const text = plant[field];
    if (typeof text === 'string') plant[field] = kind === 'int64' ? BigInt(text) : new Date(text);
  }
  // The cast is safe, because `plantTexts` writes every property of a plant.
  return plant as unknown as StoredPlant;
}
