import { reasonOf } from '../rows/reason.ts';
import { addLines, type LineCounts, noLines, type Row, type RowBlock } from '../rows/row.ts';

/** The number of rows for each outcome, and the number of lines of each kind. */
export interface ImportCounts extends LineCounts {
  /** The sum of the counts below. `lines` is the sum of `rows`, `header`, `blank` and `continued`. */
  rows: number;
  /** Rows with a valid plant, when the store only checks plants and stores nothing. */
  valid: number;
  /** Rows that this import has stored. */
  created: number;
  /** Rows whose plant the store already had. */
  exists: number;
  /** Rows whose id belongs to another plant. */
  conflicts: number;
  /** Rows without a valid plant. */
  rejected: number;
}

export const nothingCounted: Readonly<ImportCounts> = {
  ...noLines,
  rows: 0,
  valid: 0,
  created: 0,
  exists: 0,
  conflicts: 0,
  rejected: 0,
};

/** A row that is not stored: the row is unreadable, the plant is invalid, or another plant has the id. */
export interface RejectedRow {
  line: number;
  reason: string;
  isConflict: boolean;
  /** The text to write to the rejects file. */
  text: string;
}

/** The outcome for one plant. An error says why the store rejects the plant. */
type RowOutcome =
  | 'created'
  | 'exists'
  | 'valid'
  | { readonly message: string; readonly kind: string };

/** A store of plants, such as the result of `openPlantStore` of `@plant-store/core`. */
export interface RowStore {
  /** Stores plants, or only checks the plants. Returns an outcome for each plant. */
  load(plants: readonly unknown[]): Promise<readonly RowOutcome[]>;
}

export interface LoadRowsOptions {
  store: RowStore;
  blocks: AsyncGenerator<RowBlock>;
  /** `loadRows` updates these counts while it runs. The counts are correct even when `loadRows` throws. */
  counts?: ImportCounts;
  /** Whether the store loads the next rows only after `onRejectedRows` has finished. */
  isStepwise?: boolean;
  /** Runs after each update of the counts. */
  onProgress?: () => void;
  /** Receives the rejected rows. When this function throws, the import stops (see `isStepwise`). */
  onRejectedRows: (rows: RejectedRow[], rejectsHeader: string) => Promise<void> | void;
}

/** Loads the rows of a file into the store, and parses the next rows at the same time. */
export async function loadRows({
  store,
  blocks,
  counts = { ...nothingCounted },
  isStepwise = false,
  onProgress = () => {},
  onRejectedRows,
}: LoadRowsOptions): Promise<ImportCounts> {
  const loads = startLoads(store, blocks);
  for await (const { block, outcomes } of isStepwise ? loads : readAhead(loads)) {
    const rejectedRows = count(counts, block, await outcomes);
    onProgress();
    if (rejectedRows.length > 0) await onRejectedRows(rejectedRows, block.rejectsHeader);
  }
  return counts;
}

async function* startLoads(store: LoadRowsOptions['store'], blocks: LoadRowsOptions['blocks']) {
  for await (const block of blocks) {
    const plants: unknown[] = [];
    for (const row of block.rows) if ('plant' in row) plants.push(row.plant);
    const outcomes = store.load(plants);
    outcomes.catch(() => {}); // `loadRows` awaits `outcomes` later, and throws the error.
    yield { block, outcomes };
  }
}

/** Yields a generator's values, and requests the next value while the caller uses the current value. */
async function* readAhead<T>(values: AsyncGenerator<T>): AsyncGenerator<T> {
  try {
    let next = values.next();
    for (;;) {
      const { value, done } = await next;
      if (done) return;
      next = values.next();
      next.catch(() => {}); // In the next round of the loop, `await next` throws the error.
      yield value;
    }
  } finally {
    // This function does not await `return`, because `return` may wait for input that never comes.
    void values.return(undefined);
  }
}

/** Adds the rows and the lines of a block to the counts, and returns the rejected rows. */
function count(
  counts: ImportCounts,
  block: RowBlock,
  loaded: readonly RowOutcome[],
): RejectedRow[] {
  const rejectedRows: RejectedRow[] = [];
  const reject = (row: Row, reason: string, isConflict = false) => {
    counts[isConflict ? 'conflicts' : 'rejected']++;
    const text = block.toReject(row, reason);
    rejectedRows.push({ line: row.line, reason, isConflict, text });
  };
  let at = 0;
  for (const row of block.rows) {
    if ('error' in row) {
      reject(row, row.error);
      continue;
    }
    const outcome = loaded[at++];
    if (typeof outcome === 'string') counts[outcome]++;
    else if (outcome) reject(row, reasonOf(outcome.message, row.plant), outcome.kind === 'idTaken');
  }
  counts.rows += block.rows.length;
  addLines(counts, block.counts);
  return rejectedRows;
}
