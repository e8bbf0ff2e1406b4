import { parseJson } from '@plant-store/schemas';
import { type FileRow, maxRowLength, type RowBlock } from './file-row.ts';
import type { TextPiece } from './read-text.ts';

/** Reads newline-delimited JSON, one plant a line, with exact ids. Skips blank lines. */
export async function* readNdjson(pieces: AsyncIterable<TextPiece>): AsyncGenerator<RowBlock> {
  let rest = '';
  let row = 0;
  for await (const { text, bytes } of pieces) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > maxRowLength) throw new Error(`row ${row + lines.length + 1} is too long`);
    yield { rows: lines.flatMap((line) => parseLine(++row, line)), bytes };
  }
  yield { rows: parseLine(++row, rest), bytes: 0 };
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
