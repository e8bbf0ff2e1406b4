import { parseJson } from '@plant-store/schemas';
import type { FileRow, RowBlock } from './file-row.ts';
import { readLines } from './read-lines.ts';

/** Reads newline-delimited JSON, one plant a line, with exact ids. Skips blank lines. */
export async function* readNdjson(file: Blob): AsyncGenerator<RowBlock> {
  let row = 0;
  for await (const { lines, bytes } of readLines(file)) {
    yield { rows: lines.flatMap((line) => parseLine(++row, line)), bytes };
  }
}

function parseLine(row: number, line: string): FileRow[] {
  if (line.trim() === '') return [];
  try {
    return [{ row, plant: parseJson(line) }];
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return [{ row, error: `is not JSON: ${error.message}` }];
  }
}
