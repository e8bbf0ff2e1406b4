import { type ColumnKind, columnText } from '@plant-store/schemas/plain';
import { type Columns, fileColumns } from '../rows/columns.ts';
import type { FormatName } from '../rows/format-names.ts';

/** Writes plants as the text of a file. */
export interface PlantWriter {
  /** The text before the first plant. */
  readonly header: string;
  /** The text of a plant, with its line end. */
  row(plant: object): string;
}

type Value = Parameters<typeof columnText>[0] | undefined;

/** At the start of a file, this mark tells spreadsheet programs that the file is UTF-8. */
export const byteOrderMark = '\ufeff';

/**
 * Makes a writer of plants. `readPlants` reads exactly the same plants from the text.
 *
 * @param format `spreadsheet` is CSV with `'` before each id and each text that looks like a formula. Without
 *   `'`, a spreadsheet program rounds long ids and runs the formulas.
 */
export function createPlantWriter(
  format: FormatName | 'spreadsheet',
  columns?: Columns,
): PlantWriter {
  const known = fileColumns(columns);
  if (format === 'spreadsheet') {
    const marked = known.map(({ kind, name }) => (kind === 'int64' ? `'${name}` : name));
    const row = (plant: object) =>
      known.map(({ field, kind }) => csvField(forSpreadsheet(valueIn(plant, field), kind))).join();
    return { header: `${byteOrderMark}${marked.join()}\n`, row: (plant) => `${row(plant)}\n` };
  }
  if (format === 'csv') {
    return {
      header: `${known.map(({ name }) => name).join()}\n`,
      row: (plant) => `${known.map(({ field }) => csvField(valueIn(plant, field))).join()}\n`,
    };
  }
  return {
    header: '',
    row(plant) {
      const properties = known.flatMap(({ field, name }) => {
        const value = valueIn(plant, field);
        return value === undefined ? [] : [`"${name}":${jsonValue(value)}`];
      });
      return `{${properties.join()}}\n`;
    },
  };
}

function valueIn(plant: object, field: string): Value {
  // The cast is safe, because each value of a plant has a type of `Value`.
  return (plant as Record<string, Value>)[field];
}

function forSpreadsheet(value: Value, kind: ColumnKind): Value {
  if (kind === 'int64') return value === undefined ? undefined : `'${value}`;
  return typeof value === 'string' && /^['=+\-@\t\r\n]/.test(value) ? `'${value}` : value;
}

/** Formats a value for CSV. An empty field is a missing value, so an empty text has quotes. */
function csvField(value: Value): string {
  if (value === undefined) return '';
  const text = columnText(value);
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function jsonValue(value: NonNullable<Value>): string {
  const text = columnText(value);
  return typeof value === 'bigint' || typeof value === 'number' ? text : JSON.stringify(text);
}
