import { Placeholder, type SQLWrapper } from 'drizzle-orm';
import { type Drizzle, drizzleOver } from '../database/drizzle-over.ts';

/** Drizzle only writes the statements: it would be too slow to let it run each of them. */
export const db: Drizzle = drizzleOver(
  () => Promise.reject(new Error('this Drizzle only writes statements')),
  () => {
    throw new Error('this Drizzle only writes statements');
  },
);

/**
 * The text of a statement, and the names of its placeholders in order.
 *
 * @throws Error when a value stands in the statement in place of a placeholder
 */
export function writeStatement(statement: SQLWrapper & ToSQL): {
  text: string;
  placeholders: string[];
} {
  const { sql: text, params } = statement.toSQL();
  const placeholders = params.map((param) => {
    if (param instanceof Placeholder) return String(param.name);
    throw new Error(`the statement has a value in it: ${text}`);
  });
  return { text, placeholders };
}

interface ToSQL {
  toSQL(): { sql: string; params: unknown[] };
}
