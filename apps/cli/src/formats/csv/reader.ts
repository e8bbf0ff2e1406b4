import type { Line } from '../lines.ts';
import { type LineCounts, noLines, type Row, type RowBlock, textOfLines } from '../row.ts';
import { CsvParser, type Field, unclosedQuote } from './parser.ts';
import { type ToRow, toRowByHeader } from './to-row.ts';

/**
 * Reads CSV with a header row, one plant a record. Skips blank lines and columns other than `id`,
 * `name` and `tag`. An empty field is a missing value; `""` is an empty text.
 *
 * @throws CommandError when the header lacks the column `id` or `name`.
 */
export async function* readCsv(blocks: AsyncIterable<Line[]>): AsyncGenerator<RowBlock> {
  const reader = new CsvReader();
  for await (const block of blocks) yield* reader.read(block);
  yield* reader.end();
}

/**
 * The lines that are yielded together. After a quoted field without a closing quote, millions of
 * lines are read again.
 */
const maxLines = 100_000;

class CsvReader {
  readonly #parser = new CsvParser();
  #toRow: ToRow | undefined;
  /** The lines so far of a record that continues in the next block. */
  #openLines: Line[] = [];
  /** The number of lines before `#openLines`. */
  #linesBefore = 0;

  read(block: Line[]): Generator<RowBlock> {
    return this.#read(block, false);
  }

  /** Reads the lines of a record that has no end. */
  end(): Generator<RowBlock> {
    return this.#read([], true);
  }

  *#read(block: Line[], isEnd: boolean): Generator<RowBlock> {
    const lines = this.#openLines.length === 0 ? block : this.#openLines.concat(block);
    const before = this.#linesBefore;
    const textOf = textOfLines(lines, before + 1);
    let start = 0; // The record's first line.
    let next = this.#openLines.length;
    let part: RowBlock = { rows: [], counts: { ...noLines }, textOf };
    while (next < lines.length || (isEnd && this.#parser.isInRecord)) {
      const record = this.#parse(lines[next]);
      if (next < lines.length) next++;
      if (record === undefined) continue;

      let row = this.#toRowOf(before + start + 1, record, part.counts);
      if (next - start > 1) {
        if (row && 'error' in row) {
          row = withSwallowedLines(row, before + next);
          next = start + 1;
        } else {
          row &&= { ...row, lastLine: before + next };
          part.counts.continued += next - start - 1;
        }
      }
      if (row) part.rows.push(row);
      part.counts.lines += next - start;
      start = next;
      if (part.counts.lines < maxLines) continue;
      yield part;
      part = { rows: [], counts: { ...noLines }, textOf };
    }
    this.#openLines = lines.slice(start);
    this.#linesBefore += start;
    yield part;
  }

  /** @returns a record, undefined when it continues in the next line, or an error message. */
  #parse(line: Line | undefined): Field[] | string | undefined {
    if (typeof line !== 'string') {
      this.#parser.reset();
      return line?.reason ?? unclosedQuote;
    }
    try {
      return this.#parser.add(line);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      return error.message;
    }
  }

  /** Makes a row of a record. Counts the line of a record that is no row. */
  #toRowOf(line: number, record: Field[] | string, counts: LineCounts): Row | undefined {
    if (typeof record === 'string') return { line, error: record };
    if (isBlank(record)) counts.blank++;
    else if (this.#toRow) return this.#toRow(line, record);
    else {
      this.#toRow = toRowByHeader(record);
      counts.header++;
    }
    return undefined;
  }
}

/**
 * A record of several lines that has an error most likely contains the next records, because of a
 * misplaced quote. So only its first line is rejected, and its second line starts a new record.
 */
function withSwallowedLines({ line, error }: Row & { error: string }, lastLine: number): Row {
  const lines = `lines ${line} to ${lastLine} were read as one row because of a quote`;
  return { line, error: `${error} (${lines}; the import goes on at line ${line + 1})` };
}

function isBlank(record: Field[]): boolean {
  return record.length === 1 && (record[0] === undefined || record[0].trim() === '');
}
