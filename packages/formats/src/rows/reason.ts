import { type Columns, fileColumns } from './columns.ts';
import { showValue } from './show-value.ts';

/**
 * The reason why the store does not accept a plant. The store's message does not contain the invalid
 * values, and its properties may have other names in files. Names and tags can be long, and stand in the
 * row itself.
 */
export function reasonOf(message: string, plant: unknown, columns?: Columns): string {
  if (typeof plant !== 'object' || plant === null) return message;
  return fileColumns(columns).reduce((reason, { kind, field, name }) => {
    const value = (plant as Record<string, unknown>)[field]; // Any object has this type.
    if (kind === 'text' || value === undefined) return reason;
    const start = new RegExp(`(^invalid input: |; )${field} (?=must)`);
    return reason.replace(start, (_, before: string) => `${before}${name} ${showValue(value)} `);
  }, message);
}
