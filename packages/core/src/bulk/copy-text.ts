import { contentColumns, newColumns, textOf } from '../plants/columns.ts';
import type { LoadedPlant } from './loaded-plant.ts';

const withoutTime = newColumns.map(({ name }) => name).join(', ');

/** The SQL list of columns for a COPY statement. */
export const copyColumns = { withoutTime, withTime: `${withoutTime}, created_at` };

/**
 * Formats plants as lines of COPY's text format (https://www.postgresql.org/docs/current/sql-copy.html). In
 * the column `created_at`, `now` stands for the time of the statement.
 */
export function copyText(plants: readonly LoadedPlant[], columns: string): Uint8Array {
  const hasTime = columns === copyColumns.withTime;
  let text = '';
  for (const plant of plants) {
    text += plant.id;
    for (const { field } of contentColumns) {
      const value = textOf(plant[field]);
      text += value === undefined ? '\t\\N' : `\t${escaped(value)}`;
    }
    text += hasTime ? `\t${plant.createdAt ?? 'now'}\n` : '\n';
  }
  return Buffer.from(text);
}

const escapes: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

function escaped(text: string): string {
  return text.replace(/[\\\t\n\r]/g, (each) => escapes[each] ?? each);
}
