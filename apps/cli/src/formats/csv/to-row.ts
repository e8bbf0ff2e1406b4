import { idError, idOfText } from '../id-of-text.ts';
import type { ReadOptions, Row } from '../row.ts';
import { showId } from '../show-id.ts';
import type { CsvHeader } from './header.ts';
import type { Field } from './parser.ts';
import { timeColumns } from './time-columns.ts';

/** Returns functions that make a row of a record. */
export function toRowByHeader(
  { columns, delimiter }: CsvHeader,
  { createdAt }: Pick<ReadOptions, 'createdAt'>,
): {
  toRow: (line: number, record: Field[]) => Row;
  toPlainRow: (line: number, text: string) => Row | undefined;
} {
  const [idAt = -1, nameAt = -1, tagAt = -1] = ['id', 'name', 'tag'].map((name) =>
    columns.indexOf(name),
  );
  const timeAt = createdAt === 'now' ? -1 : columns.findIndex((name) => timeColumns.has(name));
  const { length } = columns;

  return {
    toRow(line, record) {
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
    },

    /**
     * Makes the row of a line without quotes, faster: without a record. Returns undefined when the line is
     * not a complete row with a valid id.
     */
    toPlainRow(line, text) {
      let id: number | bigint | undefined;
      let name: Field;
      let tag: Field;
      let time: Field;
      const last = text.endsWith('\r') ? text.length - 1 : text.length;
      let field = 0;
      for (let start = 0; start <= last; field++) {
        const delimiterAt = text.indexOf(delimiter, start);
        const end = delimiterAt < 0 ? last : delimiterAt;
        if (end > start) {
          if (field === idAt) id = idOfText(text.slice(start, end));
          else if (field === nameAt) name = text.slice(start, end);
          else if (field === tagAt) tag = text.slice(start, end);
          else if (field === timeAt) time = text.slice(start, end);
        }
        start = end + 1;
      }
      if (field !== length || id === undefined) return undefined;
      return { line, plant: { id, name, tag, createdAt: time } };
    },
  };
}

/** Whether the fields beyond the header are empty: spreadsheets write `1,Hoya,,,` for a short row. */
function hasOnlyEmptyFields(record: Field[], start: number): boolean {
  return record.length > start && record.slice(start).every((field) => field === undefined);
}
