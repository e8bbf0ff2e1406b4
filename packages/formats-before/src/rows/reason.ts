import { type Columns, fileColumns } from './columns.ts';
import { showValue } from './show-value.ts';

/**
 * Explains why the store rejects a plant. Adds the invalid values to the store's message, and replaces the
 * names of properties by the names of columns. Names and tags can be long, so the message omits them.
 */
export function reasonOf(message: string, plant: unknown, columns?: Columns): string {
  if (typeof plant !== 'object' || plant === null) return message;
  return fileColumns(columns).reduce((reason, { kind, field, name }) => {
    const value = (plant as Record<string, unknown>)[field]; // The cast is safe for any object.
    if (kind === 'text' || value === undefined) return reason;
    // `parseJson` returns NaN for a fraction that JavaScript would round to an integer.
    const shown = Number.isNaN(value) ? '' : `${showValue(value)} `;
    const start = new RegExp(`(^invalid input: |; )${field} (?=must)`);
    return reason.replace(start, (_, before: string) => `${before}${name} ${shown}`);
  }, message);
}
