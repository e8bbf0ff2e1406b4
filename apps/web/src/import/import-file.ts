import { isRetryable, plantStoreError } from '@plant-store/client';
import { FileError, type FileFacts, type Row, readRows } from '@plant-store/formats';
import type { CreateResult, NewPlant } from '@plant-store/schemas';
import { explainError, isTokenError } from '../store/errors.tsx';
import { client } from '../store/store.ts';

/** The console shows at most this number of good rows of a file. */
const mostShown = 5;

type GoodRow = Extract<Row, { plant: object }>;

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
  readonly good: readonly GoodRow[];
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
  const good: GoodRow[] = [];
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

/** While the store does not respond, the import sends the plants again after this number of milliseconds. */
const retryDelay = 1_000;

/** The import remembers at most this number of new plants, for the list. */
const mostFirst = 100;

/** The progress of an import, and later its result. */
export interface Progress {
  readonly added: number;
  readonly present: number;
  readonly rejected: readonly RejectedRow[];
  readonly first: readonly NewPlant[];
  /** Whether the plants wait for the store, or for another token. */
  readonly isWaiting: boolean;
}

/**
 * Creates the plants of a file, one batch after another. A plant that the store rejects does not stop the
 * import. The signal stops the import: the store keeps the plants that were sent before.
 *
 * @throws the signal's reason, or an error that also stops a new attempt, such as a missing scope
 */
export async function sendPlants(
  checked: CheckedFile,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
): Promise<void> {
  const { rows: batches } = readRows(checked.file.stream(), checked.facts);
  const rejected = [...checked.bad];
  const first: NewPlant[] = [];
  let [added, present] = [0, 0];
  const report = (isWaiting = false) => onProgress({ added, present, rejected, first, isWaiting });
  report();
  for await (const rows of batches) {
    const ready = rows.flatMap((row) => (row.plant ? [row] : []));
    const plants = ready.map(({ plant }) => plant);
    const results = await createAll(plants, signal, () => report(true));
    for (const { plant, line, text } of ready) {
      const result = results.get(plant);
      if (!result || 'error' in result) {
        rejected.push({ line, text, reason: result?.message ?? '' });
      } else if (result.result === 'exists') present++;
      else if (added++ < mostFirst) first.push(plant);
    }
    report();
  }
}

/**
 * Creates plants, and returns a result for each. Waits while the store does not respond, and while the user
 * enters another token. It does no harm to send a plant twice.
 */
async function createAll(
  plants: readonly NewPlant[],
  signal: AbortSignal,
  onWaiting: () => void,
): Promise<ReadonlyMap<NewPlant, CreateResult>> {
  const results = new Map<NewPlant, CreateResult>();
  for (let rest = plants; rest.length > 0; ) {
    signal.throwIfAborted();
    try {
      const response = await client.createPlants.mutate({ plants: [...rest] }, { signal });
      for (const [i, plant] of rest.entries()) {
        const result = response.results[i];
        if (result && !isRetryable(result)) results.set(plant, result);
      }
    } catch (error) {
      signal.throwIfAborted();
      const [only] = rest;
      const known = plantStoreError(error);
      // Only a plant that is a batch of its own can be larger than a request.
      if (known?.kind === 'bodyTooLarge' && only) {
        const message = explainError(error);
        results.set(only, { id: only.id, result: 'error', error: known.code, message });
      } else if (!isRetryable(error) && !isTokenError(error)) throw error;
    }
    rest = rest.filter((plant) => !results.has(plant));
    if (rest.length > 0) {
      onWaiting();
      await new Promise((resolve) => setTimeout(resolve, retryDelay));
    }
  }
  return results;
}
