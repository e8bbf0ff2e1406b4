import { formatJson, type NewPlant, parseJson } from '@plant-store/schemas';
import type { Line } from './lines.ts';
import { noLines, type Row, type RowBlock, textOfLines } from './row.ts';

/** Reads newline-delimited JSON, one plant a line. Skips blank lines. */
export async function* readNdjson(blocks: AsyncIterable<Line[]>): AsyncGenerator<RowBlock> {
  let line = 0;
  for await (const lines of blocks) {
    const textOf = textOfLines(lines, line + 1);
    const counts = { ...noLines, lines: lines.length };
    const rows: Row[] = [];
    for (const text of lines) {
      line++;
      if (typeof text !== 'string') rows.push({ line, error: text.reason });
      else if (text.trim() !== '') rows.push(parse(line, text));
      else counts.blank++;
    }
    yield { rows, counts, textOf };
  }
}

function parse(line: number, text: string): Row {
  try {
    return { line, plant: parseJson(text) };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { line, error: `is not JSON: ${error.message}` };
  }
}

export function writeNdjson(plant: NewPlant): string {
  return `${formatJson(plant)}\n`;
}
