import { formatJson, type NewPlant, parseJson } from '@plant-store/schemas';
import { type Line, unreadableLine } from './lines.ts';
import type { Row } from './row.ts';

/** Reads newline-delimited JSON, one plant a line. Skips blank lines. */
export async function* readNdjson(blocks: AsyncIterable<Line[]>): AsyncGenerator<Row[]> {
  let line = 0;
  for await (const block of blocks) {
    const rows: Row[] = [];
    for (const text of block) {
      line++;
      if (text === undefined) rows.push({ line, error: unreadableLine });
      else if (text.trim() !== '') rows.push(parse(line, text));
    }
    yield rows;
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
