import { parseJson } from '@plant-store/schemas';
import { type Line, unreadableLine } from './lines.ts';
import type { Row } from './row.ts';

/** Reads newline-delimited JSON, a plant in each line. Blank lines are passed over. */
export async function* readNdjson(lines: AsyncIterable<Line[]>): AsyncGenerator<Row[]> {
  let line = 0;
  for await (const some of lines) {
    const rows: Row[] = [];
    for (const text of some) {
      line++;
      if (text === undefined) rows.push({ line, problem: unreadableLine });
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
    return { line, problem: `is not JSON: ${error.message}` };
  }
}
