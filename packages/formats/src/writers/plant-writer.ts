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

/** Tells spreadsheet programs that a file is UTF-8. */
export const byteOrderMark = '\ufeff';

/**
 * Makes a writer of plants. `readPlants` reads exactly the same plants from the text.
 *
 * @param format `spreadsheet` is CSV for spreadsheet programs. Every id begins with `'`, so that the program
 *   keeps all digits. A text that looks like a formula begins with `'`, so that the program does not run the
 *   formula.
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
  // The cast is safe, because the values of a plant have these types.
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
