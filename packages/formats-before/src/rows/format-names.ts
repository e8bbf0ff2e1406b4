import { FileError } from '../text/file-error.ts';
import { saveAsCsv } from '../text/unreadable-file.ts';

export const formatNames = ['ndjson', 'csv'] as const;

export type FormatName = (typeof formatNames)[number];

const extensions: Record<string, FormatName> = {
  ndjson: 'ndjson',
  jsonl: 'ndjson',
  csv: 'csv',
  tsv: 'csv',
  tab: 'csv',
};

/**
 * Finds the format of a file by its extension. Ignores `.gz`, `.zst` and `.rejects` at the end of the name.
 *
 * @param advice the end of the error message, which says what to do when the extension is unknown
 * @throws FileError when the extension is unknown
 */
export function formatOf(file: string, advice: string): FormatName {
  let name = file;
  while (outerExtension.test(name)) name = name.replace(outerExtension, '');
  const [, extension = ''] = /[^/\\]\.([^./\\]+)$/.exec(name) ?? [];
  if (spreadsheet.test(extension)) throw new FileError(`${file} is a spreadsheet: ${saveAsCsv}`);
  const format = extensions[extension.toLowerCase()];
  if (!format) throw new FileError(`the format of ${file} is unknown: ${advice}`);
  return format;
}

const spreadsheet = /^(xls[bmx]?|ods|numbers)$/i;

const outerExtension = /\.(gz|zst|zstd|rejects)$/i;
