import { emptyPlant, hasName, readColumns } from '../rows/columns.ts';
import { readValue, valueError } from '../rows/read-value.ts';
import type { ReadOptions, Row } from '../rows/row.ts';
import { showValue } from '../rows/show-value.ts';
import type { CsvHeader } from './header.ts';
import type { Field } from './parser.ts';

/** Makes functions that convert a record to a row. */
export function toRowByHeader(
  { columns, delimiter, isForSpreadsheet }: CsvHeader,
  options: Pick<ReadOptions, 'createdAt' | 'columns'>,
): {
  toRow: (line: number, record: Field[]) => Row;
  toPlainRow: (line: number, text: string) => Row | undefined;
} {
  const known = readColumns(options);
  /** The column of each field in a record, or undefined for an unused field. */
  const used = columns.map((name) => known.find((column) => hasName(column, name)));
  const empty = emptyPlant(options.columns);
  const { length } = columns;
  const withoutMark = <Text extends Field>(text: Text) =>
    isForSpreadsheet && text?.startsWith("'") ? text.slice(1) : text;

  return {
    toRow(line, record) {
      if (record.length !== length && !hasOnlyEmptyFields(record, length)) {
        return {
          line,
          error: `has ${record.length} field${record.length === 1 ? '' : 's'}, but the header has ${length}`,
        };
      }
      const plant: Record<string, unknown> = { ...empty };
      // A loop over indices is several times as fast as a loop over entries.
      for (let at = 0; at < length; at++) {
        const column = used[at];
        const text = withoutMark(record[at]);
        // The store reports a missing value, together with the errors of the other fields.
        if (column === undefined || text === undefined) continue;
        const { field, name, kind } = column;
        const value = readValue(kind, text);
        if (value === undefined) {
          const error = `invalid input: ${name} ${showValue(text)} ${valueError(kind, text)}`;
          return { line, error };
        }
        plant[field] = value;
      }
      return { line, plant };
    },

    /**
     * Converts a line without quotes to a row. The conversion is fast, because it makes no record. Returns
     * undefined when the line is not a complete row with a valid id.
     */
    toPlainRow(line, text) {
      const plant: Record<string, unknown> = { ...empty };
      const last = text.endsWith('\r') ? text.length - 1 : text.length;
      let at = 0;
      for (let start = 0; start <= last; at++) {
        const delimiterAt = text.indexOf(delimiter, start);
        const end = delimiterAt < 0 ? last : delimiterAt;
        const column = used[at];
        if (end > start && column !== undefined) {
          const value = readValue(column.kind, withoutMark(text.slice(start, end)));
          if (value === undefined) return undefined;
          plant[column.field] = value;
        }
        start = end + 1;
      }
      if (at !== length || plant['id'] === undefined) return undefined;
      return { line, plant };
    },
  };
}

/** Whether the fields beyond the header are empty. Spreadsheets write `1,Hoya,,,` for a short row. */
function hasOnlyEmptyFields(record: Field[], start: number): boolean {
  return record.length > start && record.slice(start).every((field) => field === undefined);
}
