import { columnText } from '@plant-store/schemas/plain';
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

/** Makes a writer of plants. `readPlants` reads exactly the same plants from the text. */
export function createPlantWriter(format: FormatName, columns?: Columns): PlantWriter {
  const known = fileColumns(columns);
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
  return (plant as Record<string, Value>)[field]; // The values of a plant have these types.
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
