import { idError, idOfText } from '../id-of-text.ts';
import type { ReadOptions, Row } from '../row.ts';
import { showId } from '../show-id.ts';
import type { CsvHeader } from './header.ts';
import type { Field } from './parser.ts';

export type ToRow = (line: number, record: Field[]) => Row;

/** Returns a function that makes a row of a record. */
export function toRowByHeader(
  { columns }: CsvHeader,
  { createdAt }: Pick<ReadOptions, 'createdAt'>,
): ToRow {
  const [idAt = -1, nameAt = -1, tagAt = -1] = ['id', 'name', 'tag'].map((name) =>
    columns.indexOf(name),
  );
  const timeAt = createdAt === 'now' ? -1 : columns.findIndex((name) => timeColumns.has(name));
  const { length } = columns;

  return (line, record) => {
    if (record.length !== length && !hasOnlyEmptyFields(record, length)) {
      return { line, error: `has ${record.length} fields, but the header has ${length}` };
    }
    const text = record[idAt];
    // The store reports a missing id, together with the other fields.
    const id = text === undefined ? undefined : idOfText(text);
    if (text !== undefined && id === undefined) {
      return { line, error: `invalid input: id ${showId(text)} ${idError(text)}` };
    }
    const plant = { id, name: record[nameAt], tag: record[tagAt], createdAt: record[timeAt] };
    return { line, plant };
  };
}

/** The names of the column with the time at which a plant was created: an export's, and the API's. */
export const timeColumns: ReadonlySet<string> = new Set(['created_at', 'createdat']);

/** Whether the fields beyond the header are empty: spreadsheets write `1,Hoya,,,` for a short row. */
function hasOnlyEmptyFields(record: Field[], start: number): boolean {
  return record.length > start && record.slice(start).every((field) => field === undefined);
}
