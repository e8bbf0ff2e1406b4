import { formatJson, type NewPlant } from '@plant-store/schemas';
import { formula } from './csv.ts';
import type { Format } from './read-rows.ts';

/** A new plant, or a plant of the store. */
export type WritablePlant = NewPlant & {
  readonly createdAt?: Date | undefined;
  readonly updatedAt?: Date | undefined;
};

/**
 * Makes a writer of files, which `readRows` reads exactly. `start` is the text before the first plant.
 *
 * @param options.spreadsheet writes CSV for spreadsheet programs: a byte order mark, because Excel reads CSV without
 *   it as Windows-1252, and `'` before a text that such a program would run as a formula
 */
export function plantWriter(format: Format, { spreadsheet = false } = {}) {
  const field = (text: string | undefined) => {
    if (text === undefined) return '';
    const marked = formula.test(spreadsheet ? `'${text}` : text) ? `'${text}` : text;
    // An empty field is a missing text, so an empty text has quotes.
    return /^$|[",\r\n]/.test(marked) ? `"${marked.replaceAll('"', '""')}"` : marked;
  };
  const csvRow = ({ id, name, tag, createdAt, updatedAt }: WritablePlant) =>
    [id, field(name), field(tag), createdAt?.toISOString(), updatedAt?.toISOString()].join();
  const isCsv = format === 'csv';
  const header = `${spreadsheet ? '\ufeff' : ''}id,name,tag,created_at,updated_at\n`;
  return {
    start: isCsv ? header : '',
    rows: (plants: readonly WritablePlant[]) =>
      plants.map((plant) => `${isCsv ? csvRow(plant) : formatJson(plant)}\n`).join(''),
  };
}
