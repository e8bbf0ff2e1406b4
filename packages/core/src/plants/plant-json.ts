import { StoredPlant } from '@plant-store/schemas';

/** The properties of a stored plant with the types of their schemas, in the order of the JSON. */
export const plantColumns = Object.entries(StoredPlant.shape).map(([field, schema]) => ({
  field,
  type: schema.type === 'optional' ? schema.unwrap().type : schema.type,
}));

/**
 * Makes the JSON of each plant from the columns that `plantArrays` selects. The JSON of a plant omits each
 * null, even if the operator has removed NOT NULL from a column. `quote` is written around each id.
 */
export function plantTexts(selected: readonly (string | null | undefined)[], quote = ''): string[] {
  const plants: string[] = [];
  plantColumns.forEach(({ field, type }, i) => {
    const [start, end] = type === 'bigint' ? [quote, quote] : ['', ''];
    const before = `${i === 0 ? '{' : ','}"${field}":${start}`;
    valuesOf(selected[i]).forEach((value, row) => {
      if (value === 'null') return;
      const json = type === 'date' ? timeJson(value) : value;
      plants[row] = (plants[row] ?? '') + before + json + end;
    });
  });
  return plants.map((plant) => `${plant}}`);
}

/** Returns the JSON of each value in a JSON array of strings, numbers and nulls. */
export function valuesOf(array: string | null | undefined): string[] {
  return array?.match(/"[^"\\]*(?:\\.[^"\\]*)*"|[^\s,[\]]+/g) ?? [];
}

/**
 * Writes a time of Postgres in the format of `Date#toISOString` (RFC 3339).
 *
 * @param time a timestamp in UTC as JSON: `"2026-11-23T19:40:03.123456"`
 */
function timeJson(time: string): string {
  if (time.length > 24) return `${time.slice(0, 24)}Z"`;
  const [seconds, fraction = ''] = time.slice(0, -1).split('.');
  return `${seconds}.${fraction.padEnd(3, '0')}Z"`;
}
