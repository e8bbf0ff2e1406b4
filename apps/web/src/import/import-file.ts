import { isRetryable } from '@plant-store/client';
import { EncodingError, type FileFacts, type Row, readRows } from '@plant-store/formats';
import type { NewPlant } from '@plant-store/schemas';
import { client, isTokenError } from '../store.tsx';

/** The console shows at most this number of good rows of a file. */
const mostShown = 5;

type GoodRow = Extract<Row, { plant: object }>;

export interface RejectedRow {
  readonly line: number;
  readonly text: string;
  readonly reason: string;
}

/** The result of reading a whole file, before the console sends any plant. */
export interface CheckedFile {
  readonly file: File;
  readonly facts: FileFacts;
  readonly goodCount: number;
  readonly good: readonly GoodRow[];
  readonly bad: readonly RejectedRow[];
}

/**
 * Reads a whole file, and sends nothing. If the file is not UTF-8, it is most likely from Excel on Windows,
 * so the function reads it as Windows-1252.
 *
 * @throws FileError when a part of the file cannot be read
 */
export async function checkFile(
  file: File,
  encoding: FileFacts['encoding'] = 'utf-8',
): Promise<CheckedFile> {
  const { rows: batches, facts } = readRows(file.stream(), encoding);
  const good: GoodRow[] = [];
  const bad: RejectedRow[] = [];
  let goodCount = 0;
  try {
    for await (const rows of batches) {
      for (const row of rows) {
        if (!isGood(row)) bad.push({ ...row, reason: row.error });
        else if (goodCount++ < mostShown) good.push(row);
      }
    }
  } catch (error) {
    if (!(error instanceof EncodingError) || encoding !== 'utf-8') throw error;
    return checkFile(file, 'windows-1252');
  }
  return { file, facts, goodCount, good, bad };
}

/** While the store does not respond, the import sends the plants again after this number of milliseconds. */
const retryDelay = 1_000;

/** After an import, the list can show at most this number of the new plants. */
const mostFirst = 100;

/** The progress of a running import, or the result of an import that has ended. */
export interface Progress {
  readonly added: number;
  readonly present: number;
  readonly rejected: readonly RejectedRow[];
  readonly first: readonly NewPlant[];
  /** Whether the import waits for the store, or for another token. */
  readonly isWaiting: boolean;
}

/**
 * Creates the plants of a file, one batch after another. A plant that the store rejects does not stop the
 * import. The signal stops the import: the store keeps the plants that were sent before.
 *
 * @throws the error of an abort, or an error that a retry would get again, such as a missing scope
 */
export async function sendPlants(
  checked: CheckedFile,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
): Promise<void> {
  const { rows: batches } = readRows(checked.file.stream(), checked.facts.encoding);
  const rejected = [...checked.bad];
  const first: NewPlant[] = [];
  let [added, present] = [0, 0];
  const report = (isWaiting = false) => onProgress({ added, present, rejected, first, isWaiting });
  report();
  for await (const rows of batches) {
    for (let left = rows.filter(isGood); left.length > 0; ) {
      signal.throwIfAborted();
      const results = await createPlants(left, signal);
      const again: GoodRow[] = [];
      for (const [i, row] of left.entries()) {
        const result = results[i];
        if (!result || isRetryable(result)) again.push(row);
        else if ('error' in result) rejected.push({ ...row, reason: result.message });
        else if (result.result === 'exists') present++;
        else if (added++ < mostFirst) first.push(row.plant);
      }
      left = again;
      report(left.length > 0);
      if (left.length > 0) await new Promise((resolve) => setTimeout(resolve, retryDelay));
    }
  }
}

const isGood = (row: Row): row is GoodRow => row.plant !== undefined;

/**
 * Creates the plants of some rows. Returns no results while the store does not respond, and while the user enters
 * another token. Sending a plant twice does no harm.
 */
async function createPlants(rows: readonly GoodRow[], signal: AbortSignal) {
  try {
    const plants = rows.map(({ plant }) => plant);
    const response = await client.createPlants.mutate({ plants }, { signal });
    return response.results;
  } catch (error) {
    if (signal.aborted || (!isRetryable(error) && !isTokenError(error))) throw error;
    return [];
  }
}
