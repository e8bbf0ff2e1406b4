import { IdFromText } from '@plant-store/schemas';
import type { FileRow, RowBlock } from './file-row.ts';
import { type CsvField, parseCsv } from './parse-csv.ts';
import { maxRowLength, readLines } from './read-lines.ts';

/**
 * Reads CSV (RFC 4180) with a header row, one plant a record. Skips blank lines and columns other
 * than `id`, `name` and `tag`. An empty field is a missing value; `""` is an empty text.
 *
 * @throws Error when the header cannot be read, or lacks the column `id` or `name`
 */
export async function* readCsv(file: Blob): AsyncGenerator<RowBlock> {
  let toRow: ReturnType<typeof rowReader> | undefined;
  let row = 0;
  /** The lines so far of a record with a quoted field that is not closed yet. */
  let open: string[] = [];
  let openLength = 0;

  const readRecord = (text: string): FileRow[] => {
    const record = withoutReturn(text);
    try {
      const fields = parseCsv(record);
      if (!fields) return [{ row, error: unclosedQuote }];
      if (!toRow) toRow = rowReader(fields);
      else if (record !== '') return [toRow(row, fields)];
      return [];
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      if (!toRow) throw new Error(`the first row ${error.message}`);
      return [{ row, error: error.message }];
    }
  };
  const readLine = (line: string): FileRow[] => {
    if (open.length === 0) {
      row++;
      if (!isOpen(line)) return readRecord(line);
    }
    open.push(line);
    openLength += line.length + 1;
    if (openLength > maxRowLength) throw new Error(`row ${row} is too long, or ${unclosedQuote}`);
    // The quoted field ends in the next line with an odd number of quotes.
    if (open.length === 1 || !hasOddQuotes(line)) return [];
    const record = open.join('\n');
    open = [];
    openLength = 0;
    return readRecord(record);
  };

  for await (const { lines, bytes } of readLines(file)) {
    yield { rows: lines.flatMap(readLine), bytes };
  }
  if (open.length > 0) yield { rows: [{ row, error: unclosedQuote }], bytes: 0 };
}

const unclosedQuote = 'has a quoted field without a closing quote';

/** Whether a record that starts with this line goes on in the next one. */
function isOpen(line: string): boolean {
  if (!hasOddQuotes(line)) return false;
  try {
    return parseCsv(withoutReturn(line)) === undefined;
  } catch {
    return false; // The error is reported when the record is read.
  }
}

function hasOddQuotes(line: string): boolean {
  return line.split('"').length % 2 === 0;
}

/** Removes the carriage return of a CRLF line end. */
function withoutReturn(text: string): string {
  return text.endsWith('\r') ? text.slice(0, -1) : text;
}

/** Finds the columns in the header, and returns a function that makes a row of a record. */
function rowReader(header: CsvField[]) {
  const [idAt = -1, nameAt = -1, tagAt = -1] = ['id', 'name', 'tag'].map((column) =>
    header.indexOf(column),
  );
  if (idAt < 0 || nameAt < 0) {
    throw new Error(`the first row must have the columns id and name, but it has ${header.join()}`);
  }
  return (row: number, fields: CsvField[]): FileRow => {
    if (fields.length !== header.length) {
      return { row, error: `has ${fields.length} fields, but the first row has ${header.length}` };
    }
    const { data: id, error } = IdFromText.safeParse(fields[idAt]);
    if (error) return { row, error: `id ${error.issues[0]?.message}` };
    return { row, plant: { id, name: fields[nameAt], tag: fields[tagAt] } };
  };
}
