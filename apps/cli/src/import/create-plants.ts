import { setTimeout } from 'node:timers/promises';
import { isRetryable, type PlantStoreClient, plantStoreError } from '@plant-store/client';
import type { Row } from '@plant-store/formats';

/** A row with a valid plant. */
export type PlantRow = Extract<Row, { plant: object }>;

type Result = Awaited<ReturnType<PlantStoreClient['createPlants']['mutate']>>['results'][number];

/** What became of a plant: the store has it, or the error says why the store rejects it. */
export type Outcome = Pick<Result, 'result'> & { error?: number; message?: string };

interface CreateOptions {
  signal: AbortSignal;
  /** Receives the outcome of each row. */
  onOutcome: (row: PlantRow, outcome: Outcome) => Promise<void>;
  /** Receives a temporary error before the rows without an outcome are sent again. */
  onRetry: (error: unknown) => void;
}

/** Ends the import when no plant gets an outcome for this number of milliseconds. */
const patience = 60_000;

/**
 * Creates the plants of some rows. Sends the rows without an outcome again after a temporary error, for
 * example while the server restarts.
 *
 * @throws the error of a call
 */
export async function createPlants(
  store: PlantStoreClient,
  rows: readonly PlantRow[],
  { signal, onOutcome, onRetry }: CreateOptions,
): Promise<void> {
  let left = rows;
  for (let giveUp = Date.now() + patience; left.length > 0; ) {
    const { results, error } = await send(store, left, signal);
    const again: PlantRow[] = [];
    let reason = error;
    for (const [at, row] of left.entries()) {
      const result = results?.[at];
      if (result && !isTemporary(result)) await onOutcome(row, result);
      else again.push(row);
      if (result && isTemporary(result)) reason = result;
    }
    if (again.length < left.length) giveUp = Date.now() + patience;
    left = again;
    if (left.length === 0) return;
    if (Date.now() > giveUp) throw reason;
    onRetry(reason);
    await setTimeout(500, undefined, { signal });
  }
}

/** Sends one request. Returns the results, or the temporary error of the whole request. */
async function send(
  store: PlantStoreClient,
  rows: readonly PlantRow[],
  signal: AbortSignal,
): Promise<{ results?: Outcome[]; error?: unknown }> {
  const plants = rows.map(({ plant: { id, name, tag } }) => ({ id: shortest(id), name, tag }));
  try {
    return await store.createPlants.mutate({ plants }, { signal });
  } catch (error) {
    const known = plantStoreError(error);
    // A batch is smaller than the largest request, unless it is a single row.
    if (known?.kind === 'bodyTooLarge' && rows.length === 1) {
      return { results: [{ result: 'error', error: known.code, message: known.message }] };
    }
    if (signal.aborted || !isRetryable(error)) throw error;
    return { error };
  }
}

function isTemporary(outcome: Outcome): boolean {
  return outcome.result === 'error' && isRetryable(outcome);
}

/** superjson marks each bigint of a request, so a number makes the request smaller. */
function shortest(id: bigint): bigint | number {
  const number = Number(id);
  return Number.isSafeInteger(number) ? number : id;
}
