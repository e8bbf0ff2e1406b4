import { type LineCounts, noLines, type RowBlock } from '@plant-store/formats';
import { formatJson, maxNewPlants, type NewPlant } from '@plant-store/schemas';
import { type CheckedRow, checkRow, type OpenFile } from './open-file.ts';

/**
 * The plants of a request take at most this number of bytes. The store accepts requests of 1 MiB, and the
 * JSON around the plants takes the remaining bytes.
 */
const maxBytes = 1_000_000;
/** A plant takes at most this number of additional bytes, for example for superjson's types. */
const overhead = 160;

/** The rows of a file that one request sends. */
export interface Batch {
  readonly block: RowBlock;
  readonly rows: readonly CheckedRow[];
  /** In the first batch of a block, the counts include lines without a row, such as blank lines. */
  readonly counts: LineCounts;
  /** The number of bytes that the rows take in the file. */
  readonly bytes: number;
}

/** Reads a file in batches. Each batch has at most a thousand rows, and its plants fit into one request. */
export async function* batchesOf({ blocks, bytesRead }: OpenFile): AsyncGenerator<Batch> {
  let bytesBefore = 0;
  for await (const block of blocks) {
    const total = block.rows.length;
    const bytes = bytesRead() - bytesBefore;
    // A block without rows, such as a header, adds its bytes to the next block.
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
