import { IdFromText } from '@plant-store/schemas';
import type { Row } from '../row.ts';
import { showId } from '../show-id.ts';
import type { CsvHeader } from './header.ts';
import type { Field } from './parser.ts';

export type ToRow = (line: number, record: Field[]) => Row;

/** Returns a function that makes a row of a record. */
export function toRowByHeader({ columns }: CsvHeader): ToRow {
  const [idAt, nameAt, tagAt] = ['id', 'name', 'tag'].map((name) => columns.indexOf(name));
  const at = (record: Field[], column = -1) => record[column];
  const { length } = columns;

  return (line, record) => {
    if (record.length !== length && !hasOnlyEmptyFields(record, length)) {
      return { line, error: `has ${record.length} fields, but the header has ${length}` };
    }
    const text = at(record, idAt);
    // The store reports a missing id, together with the other fields.
    const id = text === undefined ? undefined : IdFromText.safeParse(text);
    if (id?.error) {
      const message = `${showId(text)} ${id.error.issues[0]?.message}`;
      return { line, error: `invalid input: id ${message}` };
    }
    return { line, plant: { id: id?.data, name: at(record, nameAt), tag: at(record, tagAt) } };
  };
}

/** Whether the fields beyond the header are empty: spreadsheets write `1,Hoya,,,` for a short row. */
function hasOnlyEmptyFields(record: Field[], start: number): boolean {
  return record.length > start && record.slice(start).every((field) => field === undefined);
}
