import { writtenColumns } from '../rows/columns.ts';
import {
  addLines,
  noLines,
  type ReadOptions,
  type Row,
  type RowBlock,
  textOf,
} from '../rows/row.ts';
import { FileError } from '../text/file-error.ts';
import { type Line, maxLines } from '../text/lines.ts';
import { type CsvHeader, findHeader, unusedColumns } from './header.ts';
import { CsvParser, type Field, unclosedQuote } from './parser.ts';
import { rejectFormat } from './reject-record.ts';
import { toRowByHeader } from './to-row.ts';

/**
 * Reads CSV. The first row is the header, and each later record is a plant. Skips blank records and
 * unknown columns. An empty field is a missing value, and `""` is an empty text.
 *
 * @throws FileError when the file has no valid header.
 */
export async function* readCsv(
  blocks: AsyncIterable<Line[]>,
  options: ReadOptions,
): AsyncGenerator<RowBlock> {
  const { warn } = options;
  let reader: CsvReader | undefined;
  const before = { ...noLines };
  for await (const block of blocks) {
    if (reader) {
      yield* reader.read(block);
      continue;
    }
    const { counts, header } = findHeader(block, options);
    addLines(before, counts);
    if (!header) continue;
    yield { rows: [], counts: before, rejectsHeader: '', toReject: () => '' };
    const unused = unusedColumns(header, options.columns);
    if (unused.length > 0)
      warn(`these columns are not used: ${unused.map((name) => JSON.stringify(name)).join(', ')}`);
    reader = new CsvReader(header, before.lines, options);
    yield* reader.read(block.slice(counts.lines));
  }
  if (!reader) {
    const line = writtenColumns(options.columns).map(({ name }) => name);
    throw new FileError(`the file is empty: a CSV file starts with the line ${line.join()}`);
  }
  yield* reader.end();
}

const maxWarnings = 10;

class CsvReader {
  readonly #header: CsvHeader;
  readonly #parser: CsvParser;
  readonly #warn: ReadOptions['warn'];
  #warnings = 0;
  readonly #toRow: ReturnType<typeof toRowByHeader>;
  readonly #lineEnd: string;
  readonly #rejectFormat: ReturnType<typeof rejectFormat>;
  /** The first lines of a record that continues in the next block. */
  #openLines: Line[] = [];
  /** The number of lines before `#openLines`. */
  #linesBefore: number;

  constructor(header: CsvHeader, linesBefore: number, options: ReadOptions) {
    const { lineEnd, warn } = options;
    this.#header = header;
    this.#warn = warn;
    this.#parser = new CsvParser(header.delimiter, lineEnd);
    this.#lineEnd = lineEnd;
    this.#rejectFormat = rejectFormat(header);
    this.#toRow = toRowByHeader(header, options);
    this.#linesBefore = linesBefore;
  }

  read(block: Line[]): Generator<RowBlock> {
    return this.#read(block, false);
  }

  /** Reads the lines of the last record when this record has no closing quote. */
  end(): Generator<RowBlock> {
    return this.#read([], true);
  }

  *#read(block: Line[], isEnd: boolean): Generator<RowBlock> {
    const lines = this.#openLines.length === 0 ? block : this.#openLines.concat(block);
    const before = this.#linesBefore;
    const format = this.#rejectFormat;
    const emptyPart = (): RowBlock => ({
      rows: [],
      counts: { ...noLines },
      rejectsHeader: format.header,
      toReject: (row, reason) =>
        format.record(row.line, reason, textOf(row, lines, before + 1, this.#lineEnd)),
    });
    let start = 0; // The index of the record's first line in `lines`.
    let next = this.#openLines.length;
    let part = emptyPart();
    while (next < lines.length || (isEnd && this.#parser.isInRecord)) {
      const record = this.#parse(lines[next]);
      if (next < lines.length) next++;
      if (record === undefined) continue;

      let row = this.#toRowOf(before + start + 1, record);
      if (next - start > 1) {
        if (row && 'error' in row) {
          row = withSwallowedLines(row, before + next);
          next = start + 1;
        } else {
          row &&= { ...row, lastLine: before + next };
          this.#warnOfRows(lines.slice(start, next), before + start + 1);
          part.counts.continued += next - start - 1;
        }
      }
      if (row) part.rows.push(row);
      else part.counts.blank++;
      part.counts.lines += next - start;
      start = next;
      // An unclosed quote can add millions of lines to a block, so the reader yields the rows in parts.
      if (part.counts.lines < maxLines) continue;
      yield part;
      part = emptyPart();
    }
    this.#openLines = lines.slice(start);
    this.#linesBefore += start;
    yield part;
  }

  /** Warns when a line in a record looks like a row, because misplaced quotes can join several rows. */
  #warnOfRows(lines: Line[], firstLine: number): void {
    const { delimiter, columns } = this.#header;
    const idAt = columns.indexOf('id');
    const at = lines.slice(1, -1).findIndex((line) => {
      const fields = typeof line === 'string' ? line.split(delimiter) : [];
      return fields.length === columns.length && /^-?\d+$/.test(fields[idAt] ?? '');
    });
    if (at < 0 || this.#warnings++ >= maxWarnings) return;
    const record = `lines ${firstLine} to ${firstLine + lines.length - 1} are one row`;
    this.#warn(
      `${record}, but line ${firstLine + 1 + at} in it looks like a row: check the quotes`,
    );
  }

  /** @returns a record, an error message, or undefined when the record continues in the next line */
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

  /** Converts a record to a row. Returns undefined for a blank record. */
  #toRowOf(line: number, record: Field[] | string): Row | undefined {
    if (typeof record === 'string') return { line, error: record };
    return isBlank(record) ? undefined : this.#toRow(line, record);
  }
}

/**
 * A misplaced quote can join several records. When a record of several lines has an error, the reader
 * therefore rejects only the first line, and starts a new record at the second line.
 */
function withSwallowedLines({ line, error }: Row & { error: string }, lastLine: number): Row {
  const lines = `lines ${line} to ${lastLine} were read as one row because of a quote`;
  return { line, error: `${error} (${lines}; the import goes on at line ${line + 1})` };
}

/** Whether all fields are empty. Spreadsheet programs write records such as `,,,` after the last row. */
function isBlank(record: Field[]): boolean {
  return (
    record.every((field) => field === undefined) ||
    (record.length === 1 && record[0]?.trim() === '')
  );
}
