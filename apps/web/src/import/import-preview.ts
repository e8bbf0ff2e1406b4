import { formatOf, type Row } from '@plant-store/formats';
import { plantColumns } from '@plant-store/schemas';
import { type CheckedRow, checkRow, type OpenOptions, openFile } from './open-file.ts';

const shownRows = 5;

/** The first rows of a file, which the console shows before the import. */
export interface ImportPreview {
  readonly format: string;
  /** The names of the columns that contain properties of plants. */
  readonly columns: string[];
  /** The first rows, with the plants that the store would create. */
  readonly rows: CheckedRow[];
  /** Whether a row contains the time at which its plant was created. */
  readonly hasTimes: boolean;
  readonly warnings: string[];
}

/**
 * Reads the first rows of a file, at most about a megabyte.
 *
 * @throws FileError when the file cannot be read as plants
 */
export async function readPreview(
  file: File,
  options: Pick<OpenOptions, 'columns' | 'onHeader'>,
): Promise<ImportPreview> {
  const warnings: string[] = [];
  const { blocks } = await openFile(file, {
    ...options,
    createdAt: 'keep',
    warn: (message) => warnings.push(message),
  });
  let read: Row[] = [];
  for await (const { rows } of blocks) {
    read = rows;
    if (rows.length > 0) break; // `break` ends the generator, which closes the file.
  }
  const fields = new Set(read.flatMap(usedFields));
  const columns = Object.entries(plantColumns).filter(([field]) => fields.has(field));
  return {
    format: formatOf(file.name, '').toUpperCase(),
    columns: columns.map(([, { name }]) => name),
    rows: read.slice(0, shownRows).map(checkRow),
    hasTimes: fields.has('createdAt'),
    warnings,
  };
}

function usedFields(row: Row): string[] {
  if (!('plant' in row)) return [];
  return Object.entries(Object(row.plant)).flatMap(([field, value]) =>
    value === undefined ? [] : [field],
  );
}
