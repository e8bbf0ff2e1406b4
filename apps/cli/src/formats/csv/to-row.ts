import { IdFromText } from '@plant-store/schemas';
import { CommandError } from '../../command-line/errors.ts';
import type { Row } from '../row.ts';
import type { Field } from './parser.ts';

export type ToRow = (line: number, record: Field[]) => Row;

/** Finds the columns in the header, and returns a function that makes a row of a record. */
export function toRowByHeader(header: Field[]): ToRow {
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
