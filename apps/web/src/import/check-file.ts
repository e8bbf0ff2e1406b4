import { FileError, type FileFacts, type Row, readRows } from '@plant-store/formats';

/** The console shows at most this number of good rows of a file. */
const mostShown = 5;

/** A file that was read completely, before anything is sent. */
export interface CheckedFile {
  readonly file: File;
  readonly facts: FileFacts;
  readonly goodCount: number;
  /** The first good rows. */
  readonly good: readonly Row[];
  readonly bad: readonly RejectedRow[];
}

/** A row that is not imported. */
export interface RejectedRow {
  readonly line: number;
  readonly text: string;
  readonly reason: string;
}

/**
 * Reads a whole file, and sends nothing. A file that is not UTF-8 is most likely from Excel on Windows, so it
 * is then read as Windows-1252.
 *
 * @throws FileError when a part of the file cannot be read
 */
export async function checkFile(file: File): Promise<CheckedFile> {
  try {
    return await readAll(file, 'utf-8');
  } catch (error) {
    if (!(error instanceof FileError) || error.kind !== 'encoding') throw error;
    return readAll(file, 'windows-1252');
  }
}

async function readAll(file: File, encoding: FileFacts['encoding']): Promise<CheckedFile> {
  const { rows: batches, facts } = readRows(file.stream(), { encoding });
  const good: Row[] = [];
  const bad: RejectedRow[] = [];
  let goodCount = 0;
  for await (const rows of batches) {
    for (const row of rows) {
      if (!row.plant) bad.push({ line: row.line, text: row.text, reason: row.error });
      else if (goodCount++ < mostShown) good.push(row);
    }
  }
  return { file, facts, goodCount, good, bad };
}
