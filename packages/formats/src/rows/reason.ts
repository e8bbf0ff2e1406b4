import { type Columns, fileColumns } from './columns.ts';
import { showValue } from './show-value.ts';

/**
 * The reason why the store does not accept a plant. To the store's message, it adds invalid values, and it
 * replaces properties by their names in files. It does not add names and tags: they can be long, and the
 * row contains them.
 */
export function reasonOf(message: string, plant: unknown, columns?: Columns): string {
  if (typeof plant !== 'object' || plant === null) return message;
  return fileColumns(columns).reduce((reason, { kind, field, name }) => {
    const value = (plant as Record<string, unknown>)[field]; // Any object has this type.
    if (kind === 'text' || value === undefined) return reason;
    // `parseJson` reads a fraction that it would round to an integer as NaN.
    const shown = Number.isNaN(value) ? '' : `${showValue(value)} `;
    const start = new RegExp(`(^invalid input: |; )${field} (?=must)`);
    return reason.replace(start, (_, before: string) => `${before}${name} ${shown}`);
  }, message);
}
