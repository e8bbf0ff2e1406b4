import { FileError, type FileFacts, type Row, readRows } from '@plant-store/formats';

/** The console shows at most this number of good rows of a file. */
const mostShown = 5;

/** A row that is not imported. */
export interface RejectedRow {
  readonly line: number;
  readonly text: string;
  readonly reason: string;
}

/** A file that was read completely, before anything is sent. */
export interface CheckedFile {
  readonly file: File;
  readonly facts: FileFacts;
  readonly goodCount: number;
  /** The first good rows. */
  readonly good: readonly Row[];
  readonly bad: readonly RejectedRow[];
}

/**
 * Reads a whole file, and sends nothing. A file that is not UTF-8 is most likely from Excel on Windows, so it
 * is then read as Windows-1252.
 *
 * @throws FileError when a part of the file cannot be read
 */
export async function checkFile(
  file: File,
  encoding: FileFacts['encoding'] = 'utf-8',
): Promise<CheckedFile> {
  const { rows: batches, facts } = readRows(file.stream(), { encoding });
  const good: Row[] = [];
  const bad: RejectedRow[] = [];
  let goodCount = 0;
  try {
    for await (const rows of batches) {
      for (const row of rows) {
        if (!row.plant) bad.push({ line: row.line, text: row.text, reason: row.error });
        else if (goodCount++ < mostShown) good.push(row);
      }
    }
  } catch (error) {
    const isEncoding = error instanceof FileError && error.kind === 'encoding';
    if (isEncoding && encoding === 'utf-8') return checkFile(file, 'windows-1252');
    throw error;
  }
  return { file, facts, goodCount, good, bad };
}
