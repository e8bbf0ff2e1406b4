import { type PlantStoreClient, plantStoreError } from '@plant-store/client';
import { maxBatchSize, NewPlant } from '@plant-store/schemas';
import { isScopeError, isTemporary, isTokenError } from '../store/explain-error.ts';
import type { FileRow, RowBlock } from './file-row.ts';

/** Batches that are in flight at the same time. */
const parallelBatches = 4;

/** Milliseconds before a create is sent again when the server is away. */
const retryDelay = 1_000;

export interface RejectedRow {
  readonly row: number;
  readonly reason: string;
}

/** The outcome of some rows. */
export interface ImportStep {
  readonly created: number;
  readonly rejected: readonly RejectedRow[];
  /** How many bytes of the file they were. */
  readonly bytes: number;
}

interface ImportOptions {
  client: Pick<PlantStoreClient, 'createPlant'>;
  blocks: AsyncIterable<RowBlock>;
  /** Stops the import after the batches in flight. */
  signal: AbortSignal;
  onStep(step: ImportStep): void;
  /** Is called when the import begins or stops waiting for the server. */
  onWaiting(isWaiting: boolean): void;
}

/**
 * Creates the plants of a file, in batches over tRPC. A row that the store does not accept is
 * rejected, and the others go on. While the server is away the import waits: a create may be repeated.
 *
 * @throws the error of reading the file, or of a token that may not create plants
 */
export async function importFile(options: ImportOptions): Promise<void> {
  const { blocks, signal, onStep } = options;
  const stopped = new AbortController();
  const isOver = AbortSignal.any([signal, stopped.signal]);
  const batches = batchesOf(blocks);

  const work = async () => {
    try {
      for await (const { rows, bytes } of batches) {
        if (isOver.aborted) return;
        const results = await createBatch(rows, { ...options, signal: isOver });
        const rejected = results.filter((result) => result !== undefined);
        onStep({ created: rows.length - rejected.length, rejected, bytes });
      }
    } catch (error) {
      stopped.abort();
      if (!signal.aborted) throw error;
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: parallelBatches }, work));
  for (const worker of workers) if (worker.status === 'rejected') throw worker.reason;
}

/** Groups the rows of the blocks into full batches, each with its share of the bytes. */
async function* batchesOf(blocks: AsyncIterable<RowBlock>): AsyncGenerator<RowBlock> {
  let rows: FileRow[] = [];
  let bytes = 0;
  for await (const block of blocks) {
    rows = [...rows, ...block.rows];
    bytes += block.bytes;
    const batchBytes = (bytes / rows.length) * maxBatchSize;
    for (; rows.length >= maxBatchSize; bytes -= batchBytes) {
      yield { rows: rows.splice(0, maxBatchSize), bytes: batchBytes };
    }
  }
  yield { rows, bytes };
}

/** Creates the plants of a batch; returns for each row why it was rejected, or undefined. */
function createBatch(rows: readonly FileRow[], options: ImportOptions) {
  return Promise.all(rows.map((row) => createRow(row, options)));
}

async function createRow(row: FileRow, options: ImportOptions): Promise<RejectedRow | undefined> {
  if ('error' in row) return { row: row.row, reason: row.error };
  const { data: plant, error } = NewPlant.safeParse(row.plant);
  if (!plant) {
    const reasons = error?.issues.map(({ path, message }) => `${path.join('.')} ${message}`.trim());
    return { row: row.row, reason: reasons?.join('; ') ?? '' };
  }
  try {
    await createOnceUp(plant, options);
    return undefined;
  } catch (thrown) {
    const error = plantStoreError(thrown);
    if (!error || isTokenError(thrown) || isScopeError(thrown)) throw thrown;
    return { row: row.row, reason: error.message };
  }
}

/** Creates a plant, and waits while the server is away. */
async function createOnceUp(plant: NewPlant, { client, signal, onWaiting }: ImportOptions) {
  const create = () => client.createPlant.mutate(plant).then(() => undefined, errorOf);
  let error = await create();
  const mustWait = isTemporary(error);
  while (isTemporary(error)) {
    onWaiting(true);
    await delay(retryDelay, signal);
    error = await create();
  }
  if (mustWait) onWaiting(false);
  if (error !== undefined) throw error;
}

const errorOf = (thrown: unknown) => thrown;

/** @throws the signal's reason when it aborts */
function delay(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort);
      resolve();
    }, milliseconds);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
}
