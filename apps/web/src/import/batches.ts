import { type LineCounts, noLines, type RowBlock } from '@plant-store/formats';
import { formatJson, maxNewPlants, type NewPlant } from '@plant-store/schemas';
import { type CheckedRow, checkRow, type OpenFile } from './open-file.ts';

/**
 * A request contains at most this number of bytes for plants. The store accepts 1 MiB, and the JSON around
 * the plants needs the rest.
 */
const maxBytes = 1_000_000;
/** A plant needs this number of bytes for its id, its property names and superjson's types. */
const overhead = 160;

/** Contains the rows of a file for one request. */
export interface Batch {
  readonly block: RowBlock;
  readonly rows: readonly CheckedRow[];
  /** The first batch of a block includes the other lines of the block, such as blank lines. */
  readonly counts: LineCounts;
  /** The number of bytes that these rows have in the file. */
  readonly bytes: number;
}

/** Reads a file in batches. Each batch has at most a thousand rows, and its plants fit into one request. */
export async function* batchesOf({ blocks, bytesRead }: OpenFile): AsyncGenerator<Batch> {
  let bytesBefore = 0;
  for await (const block of blocks) {
    const total = block.rows.length;
    const bytes = bytesRead() - bytesBefore;
    // A block without rows, such as a header, adds its bytes to the rows of the next block.
    if (total > 0) bytesBefore += bytes;
    let around = { ...block.counts, lines: block.counts.lines - total };
    for (const rows of total === 0 ? [[]] : splitRows(block)) {
      const counts = { ...around, lines: around.lines + rows.length };
      yield { block, rows, counts, bytes: (bytes * rows.length) / (total || 1) };
      around = noLines;
    }
  }
}

function* splitRows(block: RowBlock): Generator<CheckedRow[]> {
  let rows: CheckedRow[] = [];
  let size = 0;
  for (const row of block.rows) {
    let checked = checkRow(row);
    let added = checked.plant ? sizeOf(checked.plant) : 0;
    if (added > maxBytes) {
      checked = { row, reason: tooLarge };
      added = 0;
    }
    if (rows.length === maxNewPlants || size + added > maxBytes) {
      yield rows;
      rows = [];
      size = 0;
    }
    rows.push(checked);
    size += added;
  }
  yield rows;
}

const tooLarge =
  'is larger than the 1 MiB of a request: add the plant with the command plant-store import';

const encoder = new TextEncoder();

function sizeOf(plant: NewPlant): number {
  return encoder.encode(formatJson(plant)).length + overhead;
}
