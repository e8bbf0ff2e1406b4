import Papa, { type ParseStepResult } from 'papaparse';
import { parseId } from '../plants/parse-id.ts';
import { type FileRow, maxRowLength, type RowBlock } from './file-row.ts';
import type { TextPiece } from './read-text.ts';

type Step = ParseStepResult<string[][]>;

/**
 * Reads CSV (RFC 4180) with a header row, one plant a record. Skips blank lines and columns other
 * than `id`, `name` and `tag`. An empty field is a missing value; `""` is an empty text.
 *
 * @throws Error when the header lacks the column `id` or `name`
 */
export async function* readCsv(pieces: AsyncIterable<TextPiece>): AsyncGenerator<RowBlock> {
  let rest = '';
  let toRow: ReturnType<typeof rowReader> | undefined;
  let newline: '\n' | '\r\n' | undefined;
  let rowNumber = 0;

  // Papa's own reader of files breaks characters that lie across two pieces.
  const parse = (isLast: boolean): FileRow[] => {
    const rows: FileRow[] = [];
    const text = rest;
    let start = 0;
    const step = ({ data: [fields = []], errors, meta }: Step) => {
      const record = text.slice(start, meta.cursor).trimEnd();
      start = meta.cursor;
      rowNumber++;
      const [error] = errors;
      if (record === '') return;
      if (!toRow) toRow = rowReader(fields);
      else if (error) rows.push({ row: rowNumber, error: `is not CSV: ${error.message}` });
      else rows.push(toRow(rowNumber, fields, record));
    };
    new Papa.Parser({ delimiter: ',', newline: (newline ??= newlineOf(text)), step }).parse(text, 0, !isLast);
    rest = text.slice(start);
    return rows;
  };

  for await (const { text, bytes } of pieces) {
    rest += text;
    const rows = parse(false);
    if (rest.length > maxRowLength) {
      throw new Error(`row ${rowNumber + 1} is too long, or lacks its closing quote`);
    }
    yield { rows, bytes };
  }
  if (rest !== '') yield { rows: parse(true), bytes: 0 };
}

function newlineOf(text: string): '\n' | '\r\n' {
  return /^[^\n]*\r\n/.test(text) ? '\r\n' : '\n';
}

/** Finds the columns in the header, and returns a function that makes a row of a record. */
function rowReader(header: string[]) {
  const [idAt = -1, nameAt = -1, tagAt = -1] = ['id', 'name', 'tag'].map((column) =>
    header.indexOf(column),
  );
  if (idAt < 0 || nameAt < 0) {
    throw new Error(`the first row must have the columns id and name, but it has ${header.join()}`);
  }
  return (row: number, fields: string[], record: string): FileRow => {
    if (fields.length !== header.length) {
      return { row, error: `has ${fields.length} fields, but the first row has ${header.length}` };
    }
    const text = (column: number) => {
      const value = fields[column];
      return value === '' && !isQuoted(record, column) ? undefined : value;
    };
    const [id, name, tag] = [text(idAt), text(nameAt), text(tagAt)];
    return { row, plant: { id: id === undefined ? id : parseId(id), name, tag } };
  };
}

/** Whether an empty field of a record is written as `""`, which Papa does not tell. */
function isQuoted(record: string, column: number): boolean {
  const fields = [...`,${record}`.matchAll(/,("(?:[^"]|"")*"|[^,]*)/g)];
  return fields[column]?.[1] === '""';
}
