import { hasName, readColumns } from '../rows/columns.ts';
import { readValue, valueError } from '../rows/read-value.ts';
import type { ReadOptions, Row } from '../rows/row.ts';
import { showValue } from '../rows/show-value.ts';
import type { CsvHeader } from './header.ts';
import type { Field } from './parser.ts';

export function toRowByHeader(
  { columns, isForSpreadsheet }: CsvHeader,
  options: Pick<ReadOptions, 'createdAt' | 'columns'>,
): (line: number, record: Field[]) => Row {
  const known = readColumns(options);
  /** The column of each field in a record, or undefined for an unused field. */
  const used = columns.map((name) => known.find((column) => hasName(column, name)));
  const { length } = columns;
  const withoutMark = (text: Field) =>
    isForSpreadsheet && text?.startsWith("'") ? text.slice(1) : text;

  return (line, record) => {
    if (record.length !== length && !hasOnlyEmptyFields(record, length)) {
      const fields = `${record.length} field${record.length === 1 ? '' : 's'}`;
      return { line, error: `has ${fields}, but the header has ${length}` };
    }
    const plant: Record<string, unknown> = {};
    // A loop over indices is several times as fast as a loop over entries.
    for (let at = 0; at < length; at++) {
      const column = used[at];
      const text = withoutMark(record[at]);
      // This function omits a missing value. If the column is required, the store reports the error.
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
  };
}

/** Whether only empty fields follow the last column, as in `1,Hoya,,,` from a spreadsheet program. */
function hasOnlyEmptyFields(record: Field[], start: number): boolean {
  return record.length > start && record.slice(start).every((field) => field === undefined);
}
