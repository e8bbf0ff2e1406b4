import { IdFromText } from '@plant-store/schemas';
import { CommandError } from '../../command-line/errors.ts';
import { type Line, unreadableLine } from '../lines.ts';
import type { Row } from '../row.ts';
import { CsvParser, type Field, unclosedQuote } from './parser.ts';

/**
 * Reads CSV with a header row, one plant a record. Skips blank lines and columns other than `id`,
 * `name` and `tag`. An empty field is a missing value; `""` is an empty text.
 *
 * @throws CommandError when the header lacks the column `id` or `name`.
 */
export async function* readCsv(blocks: AsyncIterable<Line[]>): AsyncGenerator<Row[]> {
  const parser = new CsvParser();
  let toRow: ReturnType<typeof rowReader> | undefined;
  let line = 0;
  let start = 0;

  for await (const block of blocks) {
    const rows: Row[] = [];
    for (const text of block) {
      line++;
      if (!parser.isInRecord) start = line;
      const record = parse(parser, text);
      if (typeof record === 'string') rows.push({ line: start, error: record });
      else if (record && !toRow) toRow = rowReader(record);
      else if (record && toRow && !isBlank(record)) rows.push(toRow(start, record));
    }
    yield rows;
  }
  if (parser.isInRecord) yield [{ line: start, error: unclosedQuote }];
}

/** @returns a record, undefined when it continues in the next line, or an error message. */
function parse(parser: CsvParser, line: Line): Field[] | string | undefined {
  if (line === undefined) {
    parser.reset();
    return unreadableLine;
  }
  try {
    return parser.add(line);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return error.message;
  }
}

/** Finds the columns in the header, and returns a function that makes a row of a record. */
function rowReader(header: Field[]): (line: number, record: Field[]) => Row {
  const [idAt, nameAt, tagAt] = ['id', 'name', 'tag'].map((column) => header.indexOf(column));
  if (idAt === -1 || nameAt === -1) {
    const columns = header.map((column) => JSON.stringify(column ?? '')).join(', ');
    throw new CommandError(
      `the CSV header must have the columns id and name (tag is optional), but it has ${columns}`,
    );
  }
  const at = (record: Field[], column = -1) => record[column];

  return (line, record) => {
    if (record.length !== header.length) {
      return { line, error: `has ${record.length} fields, but the header has ${header.length}` };
    }
    const text = at(record, idAt);
    // The store reports a missing id, together with the other fields.
    const id = text === undefined ? undefined : IdFromText.safeParse(text);
    if (id?.error) return { line, error: `invalid input: id ${id.error.issues[0]?.message}` };
    return { line, plant: { id: id?.data, name: at(record, nameAt), tag: at(record, tagAt) } };
  };
}

function isBlank(record: Field[]): boolean {
  return record.length === 1 && record[0] === undefined;
}
