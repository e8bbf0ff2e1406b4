import type { RowBlock } from './file-row.ts';
import { readCsv } from './read-csv.ts';
import { readNdjson } from './read-ndjson.ts';

/** The extensions of files that can be read. */
export const fileTypes = '.ndjson,.jsonl,.csv';

/**
 * Reads the rows of a file, whose extension says its format.
 *
 * @throws Error when the format is unknown, or the file is not of that format
 */
export function readRows(file: File): AsyncGenerator<RowBlock> {
  if (/\.csv$/i.test(file.name)) return readCsv(file);
  if (/\.(ndjson|jsonl)$/i.test(file.name)) return readNdjson(file);
  throw new Error(`the format of ${file.name} is unknown: choose a file .ndjson, .jsonl or .csv`);
}
