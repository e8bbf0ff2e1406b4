import type { LoadOutcome, PlantStore } from '@plant-store/core';
import type { Row } from '../formats/row.ts';
import { readAhead } from './read-ahead.ts';

/** How many rows of a file had each outcome. */
export interface ImportCounts {
  rows: number;
  /** Rows that this import has stored. */
  inserted: number;
  /** Rows whose plant the store already had. */
  present: number;
  /** Rows whose id belongs to another plant. */
  conflicts: number;
  /** Rows that are not a valid plant. */
  rejected: number;
}

/** A row that is not stored: it is not a valid plant, or its id belongs to another plant. */
export interface RejectedRow {
  line: number;
  reason: string;
}

export interface LoadRowsOptions {
  store: Pick<PlantStore, 'load'>;
  rows: AsyncGenerator<Row[]>;
  /** `loadRows` updates these counts as it goes; they are right even when it throws. */
  counts: ImportCounts;
  /** Receives the rejected rows. An error that it throws stops the import. */
  onRejectedRows: (rows: RejectedRow[]) => Promise<void>;
}

/** Loads the rows of a file into the store, and parses the next rows at the same time. */
export async function loadRows(options: LoadRowsOptions): Promise<void> {
  const { store, rows, counts, onRejectedRows } = options;
  for await (const { block, outcomes } of readAhead(startLoads(store, rows))) {
    const rejectedRows = count(counts, block, await outcomes);
    if (rejectedRows.length > 0) await onRejectedRows(rejectedRows);
  }
}

async function* startLoads(store: LoadRowsOptions['store'], rows: LoadRowsOptions['rows']) {
  for await (const block of rows) {
    const outcomes = store.load(block.flatMap((row) => ('plant' in row ? [row.plant] : [])));
    outcomes.catch(() => {}); // loadRows handles the rejection, but may await it later.
    yield { block, outcomes };
  }
}

/** Adds the rows' outcomes to the counts, and returns the rejected rows. */
function count(counts: ImportCounts, rows: Row[], loaded: LoadOutcome[]): RejectedRow[] {
  const rejectedRows: RejectedRow[] = [];
  const outcomes = loaded.values();
  for (const row of rows) {
    const { line } = row;
    if ('error' in row) {
      counts.rejected++;
      rejectedRows.push({ line, reason: row.error });
      continue;
    }
    const outcome = outcomes.next().value;
    if (typeof outcome === 'string') counts[outcome]++;
    else if (outcome) {
      counts[outcome.kind === 'idTaken' ? 'conflicts' : 'rejected']++;
      rejectedRows.push({ line, reason: outcome.message });
    }
  }
  counts.rows += rows.length;
  return rejectedRows;
}
