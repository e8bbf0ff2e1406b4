import { type Row, reasonOf } from '@plant-store/formats';
import { NewPlant } from '@plant-store/schemas';

/** The plant of a row, or the reason why it is not one. */
export type CheckedRow = { readonly row: Row } & (
  | { readonly plant: NewPlant; readonly reason?: undefined }
  | { readonly plant?: undefined; readonly reason: string }
);

/** Checks a row by the schema that the store has, too. */
export function checkRow(row: Row): CheckedRow {
  if ('error' in row) return { row, reason: row.error };
  const { data: plant, error } = NewPlant.safeParse(row.plant);
  if (plant) return { row, plant };
  const issues = error.issues.map(({ path, message }) => `${path.join('.')} ${message}`.trim());
  return { row, reason: reasonOf(`invalid input: ${issues.join('; ')}`, row.plant) };
}
