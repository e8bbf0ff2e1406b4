import type { StoredPlant } from '@plant-store/schemas';
import { plantColumns } from '@plant-store/schemas/plain';

const columns = Object.entries(plantColumns);

/** The columns that are arrays. The last column, the time of the replacement, may be an object by id. */
const arrayColumns = columns.slice(0, -1);

/**
 * Makes the JSON of each plant from the columns that `arraysJson` selects, and the times of replacements. The JSON of a plant has no
 * property for a null, even if the operator has removed NOT NULL from the column.
 */
export function plantTexts(selected: readonly (string | null)[]): string[] {
  const [ids = [], ...others] = arrayColumns.map(([field, { kind }], i) => {
    const before = `${i === 0 ? '{' : ','}"${field}":`;
    return valuesOf(selected[i]).map((value) => {
      if (value === 'null') return '';
      return before + (kind === 'time' ? timeJson(value) : value);
    });
  });
  const updates = selected[arrayColumns.length];
  const updatedAt: Record<string, string | null> = updates ? JSON.parse(updates) : {};
  const isById = !Array.isArray(updatedAt);
  return ids.map((id, row) => {
    let plant = id;
    for (const column of others) plant += column[row] ?? '';
    const updated = updates && updatedAt[isById ? id.slice('{"id":'.length) : row];
    return updated ? `${plant},"updatedAt":${timeJson(`"${updated}"`)}}` : `${plant}}`;
  });
}

/** Returns the values in a JSON array of texts, numbers and nulls. */
export function valuesOf(array: string | null | undefined): string[] {
  return array?.match(jsonValue) ?? [];
}

const jsonValue = /"[^"\\]*(?:\\.[^"\\]*)*"|[^\s,[\]]+/g;

/**
 * Writes a time of Postgres in the format of `Date#toISOString` (RFC 3339). A time outside the years 0 to 9999,
 * which only the operator can have written, becomes the nearest time in these years.
 *
 * @param time a timestamp in UTC as JSON: `"2026-11-23T19:40:03.123456"`, perhaps with ` BC`
 */
function timeJson(time: string): string {
  if (time[5] !== '-' || time.endsWith(' BC"')) {
    const isEarly = time.endsWith(' BC"') || time === '"-infinity"';
    return isEarly ? '"0000-01-01T00:00:00.000Z"' : '"9999-12-31T23:59:59.999Z"';
  }
  if (time.length > 24) return `${time.slice(0, 24)}Z"`;
  const [seconds, fraction = ''] = time.slice(0, -1).split('.');
  return `${seconds}.${fraction.padEnd(3, '0')}Z"`;
}

/** Makes a plant from its JSON. */
export function parsePlant(json: string): StoredPlant {
  return toPlant(JSON.parse(withTextIds(json)));
}

/** Gives the properties of a parsed plant their types. The id is a text. */
export function toPlant(plant: Record<string, unknown>): StoredPlant {
  for (const { field, type } of typedFields) {
    const text = plant[field];
    if (typeof text === 'string') plant[field] = type === 'bigint' ? BigInt(text) : new Date(text);
  }
  // The cast is safe, because `plantTexts` writes every property of a plant.
  return plant as unknown as StoredPlant;
}

/**
 * Writes the ids in the JSON of plants as texts, because `JSON.parse` would round large ids. The expression
 * matches nothing inside a text, because JSON escapes the quotes there.
 */
export function withTextIds(json: string): string {
  return json.replace(/"id":(-?\d+)/g, '"id":"$1"');
}

/** The properties whose types JSON lacks, with superjson's names for these types. */
export const typedFields = columns.flatMap(([field, { kind, isOptional }]) => {
  const type = { int64: 'bigint', time: 'Date', number: undefined, text: undefined }[kind];
  return type === undefined ? [] : [{ field, type, isOptional }];
});
