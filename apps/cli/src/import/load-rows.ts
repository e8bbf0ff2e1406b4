import type { LoadOutcome, PlantStore } from '@plant-store/core';
import type { Row } from '../formats/row.ts';
import { readAhead } from './read-ahead.ts';

/** What became of the rows of a file. */
export interface ImportCounts {
  rows: number;
  /** Stored now. */
  inserted: number;
  /** Stored before, exactly so. */
  present: number;
  /** Their id belongs to another plant. */
  conflicts: number;
  /** No plants. */
  rejected: number;
}

/** A row that is not in the store, and why. */
export interface Refusal {
  line: number;
  reason: string;
}

export interface Import {
  store: Pick<PlantStore, 'load'>;
  rows: AsyncGenerator<Row[]>;
  /** Is kept up to date, and is right however the import ends. */
  counts: ImportCounts;
  /** Is told of rows that are not in the store; what it throws stops the import. */
  onRefusals: (refusals: Refusal[]) => Promise<void>;
}

/** Loads the rows of a file into the store, and reads the next ones meanwhile. */
export async function importPlants({ store, rows, counts, onRefusals }: Import): Promise<void> {
  for await (const { some, loaded } of readAhead(loads(store, rows))) {
    const refusals = count(counts, some, await loaded);
    if (refusals.length > 0) await onRefusals(refusals);
  }
}

async function* loads(store: Import['store'], rows: Import['rows']) {
  for await (const some of rows) {
    const loaded = store.load(some.flatMap((row) => ('plant' in row ? [row.plant] : [])));
    loaded.catch(() => {}); // Whoever waits for it is told.
    yield { some, loaded };
  }
}

/** Counts what became of rows, and returns those that are not in the store. */
function count(counts: ImportCounts, rows: Row[], loaded: LoadOutcome[]): Refusal[] {
  const refusals: Refusal[] = [];
  const outcomes = loaded.values();
  for (const row of rows) {
    const { line } = row;
    if ('problem' in row) {
      counts.rejected++;
      refusals.push({ line, reason: row.problem });
      continue;
    }
    const outcome = outcomes.next().value;
    if (typeof outcome === 'string') counts[outcome]++;
    else if (outcome) {
      counts[outcome.kind === 'idTaken' ? 'conflicts' : 'rejected']++;
      refusals.push({ line, reason: outcome.message });
    }
  }
  counts.rows += rows.length;
  return refusals;
}
