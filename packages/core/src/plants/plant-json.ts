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

/** Makes a plant from its JSON. `JSON.parse` would round a large id, so the id becomes a text first. */
export function parsePlant(json: string): StoredPlant {
  const plant: Record<string, unknown> = JSON.parse(withTextId(json));
  for (const { field, type } of typedFields) {
    const text = plant[field];
    if (typeof text === 'string') plant[field] = type === 'bigint' ? BigInt(text) : new Date(text);
  }
  // The cast is safe, because `plantTexts` writes every property of a plant.
  return plant as unknown as StoredPlant;
}

/** Writes the id of a plant's JSON as a text. The id is the first property. */
export function withTextId(json: string): string {
  const end = json.indexOf(',');
  return `{"id":"${json.slice('{"id":'.length, end)}"${json.slice(end)}`;
}

/** The properties whose types JSON lacks, with superjson's names for these types. */
export const typedFields = columns.flatMap(([field, { kind }]) => {
  const type = { int64: 'bigint', time: 'Date', number: undefined, text: undefined }[kind];
  return type === undefined ? [] : [{ field, type, isIn: isIn(field) }];
});

/** Makes a test whether the JSON of a plant has a property. In a text, JSON escapes the quotes. */
function isIn(field: string): (json: string) => boolean {
  const column = plantColumns[field as keyof typeof plantColumns];
  return column.isOptional ? (json) => json.includes(`"${field}":`) : () => true;
}
