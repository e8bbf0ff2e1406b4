import type { CreateResult } from '@plant-store/schemas';
import { errorCatalogue } from '@plant-store/schemas/plain';
import { type Batch, batchesOf } from './batches.ts';
import { type Connection, createPlants } from './create-plants.ts';
import { type ImportStep, nothingCounted, type RejectedRow } from './import-step.ts';
import type { OpenFile } from './open-file.ts';

/** The import sends at most this number of requests at the same time. */
const parallelBatches = 4;

interface ImportOptions {
  connection: Connection;
  /** Stops the import. The store may keep plants that were sent before. */
  signal: AbortSignal;
  /** Receives the outcome of each batch, in the order of the file. */
  onStep(step: ImportStep): void;
}

/**
 * Creates the plants of a file with several requests at a time. When the store rejects a row, the import
 * counts the row and goes on.
 *
 * @throws an error when the file cannot be read, or when the token may not create plants
 */
export async function importFile(
  file: OpenFile,
  { connection, signal, onStep }: ImportOptions,
): Promise<void> {
  const stopped = new AbortController();
  const isOver = AbortSignal.any([signal, stopped.signal]);
  const inFlight: { batch: Batch; results: Promise<CreateResult[]> }[] = [];
  const finishFirst = async () => {
    const first = inFlight.shift();
    if (first) onStep(stepOf(first.batch, await first.results));
  };
  try {
    for await (const batch of batchesOf(file)) {
      // When two rows have the same id, the first row must reach the store first, so the second row waits.
      while (
        inFlight.length === parallelBatches ||
        inFlight.some((one) => sharesId(one.batch, batch))
      ) {
        await finishFirst();
      }
      const plants = batch.rows.flatMap(({ plant }) => plant ?? []);
      const results = createPlants(plants, connection, isOver);
      results.catch(() => {}); // Prevents an unhandled rejection. `finishFirst` throws the error.
      inFlight.push({ batch, results });
    }
    while (inFlight.length > 0) await finishFirst();
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    stopped.abort();
  }
}

function sharesId(a: Batch, b: Batch): boolean {
  const ids = new Set(a.rows.map(({ plant }) => plant?.id));
  return b.rows.some(({ plant }) => plant && ids.has(plant.id));
}

function stepOf(batch: Batch, results: readonly CreateResult[]): ImportStep {
  const { block, rows, bytes } = batch;
  const counts = { ...nothingCounted, ...batch.counts, rows: rows.length };
  const rejectedRows: RejectedRow[] = [];
  let at = 0;
  for (const { row, plant, reason: invalid } of rows) {
    const result = plant ? results[at++] : undefined;
    if (result && !('error' in result)) {
      counts[result.result === 'created' ? 'added' : 'present']++;
      continue;
    }
    const reason = invalid ?? result?.message ?? '';
    counts[result?.error === errorCatalogue.idTaken.code ? 'taken' : 'rejected']++;
    rejectedRows.push({ line: row.line, reason, text: block.toReject(row, reason) });
  }
  return { counts, rejectedRows, rejectsHeader: block.rejectsHeader, bytes };
}
