import { CommandFailure } from '../../command-line/errors.ts';
import { type Line, unreadableLine } from '../lines.ts';
import type { Row } from '../row.ts';
import { CsvParser, type Field, neverClosed } from './parser.ts';

/**
 * Reads CSV with a header row, a plant in each record. Columns other than `id`, `name` and `tag` are
 * passed over, so are blank lines. A field with nothing in it is no text; `""` is an empty text.
 *
 * @throws CommandFailure when the header lacks a column.
 */
export async function* readCsv(lines: AsyncIterable<Line[]>): AsyncGenerator<Row[]> {
  const parser = new CsvParser();
  let toRow: ReturnType<typeof rowReader> | undefined;
  let line = 0;
  let start = 0;

  for await (const some of lines) {
    const rows: Row[] = [];
    for (const text of some) {
      line++;
      if (!parser.isOpen) start = line;
      const record = parse(parser, text);
      if (typeof record === 'string') rows.push({ line: start, problem: record });
      else if (record && !toRow) toRow = rowReader(record);
      else if (record && toRow && !isBlank(record)) rows.push(toRow(start, record));
    }
    yield rows;
  }
  if (parser.isOpen) yield [{ line: start, problem: neverClosed }];
}

/** A record, undefined while it is not complete, or what is wrong with it. */
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

function rowReader(header: Field[]): (line: number, record: Field[]) => Row {
  const [idAt, nameAt, tagAt] = ['id', 'name', 'tag'].map((column) => header.indexOf(column));
  if (idAt === -1 || nameAt === -1) {
    const found = header.map((column) => JSON.stringify(column ?? '')).join(', ');
    throw new CommandFailure(
      `the header row must name the columns id and name, and may name tag; it names ${found}`,
    );
  }
  const at = (record: Field[], column = -1) => record[column];

  return (line, record) => {
    if (record.length !== header.length) {
      return { line, problem: `has ${record.length} fields where the header has ${header.length}` };
    }
    const plant = {
      id: integer(at(record, idAt)),
      name: at(record, nameAt),
      tag: at(record, tagAt),
    };
    return { line, plant };
  };
}

/** Text that is no integer is left as it is, and refused as an id of that kind. */
function integer(text: Field): bigint | Field {
  return text !== undefined && /^-?\d{1,40}$/.test(text) ? BigInt(text) : text;
}

function isBlank(record: Field[]): boolean {
  return record.length === 1 && record[0] === undefined;
}
