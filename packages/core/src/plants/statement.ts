import { Placeholder, type SQLWrapper } from 'drizzle-orm';
import type { Query } from '../database/database.ts';

type Values = Record<string, string | null | undefined>;

/**
 * Makes a function that runs a statement, by the values of its placeholders. Drizzle writes the text
 * once; filling in the values with Drizzle for each run would be too slow for a request.
 */
export function prepareStatement(
  query: Query,
  statement: SQLWrapper & { toSQL(): { sql: string; params: unknown[] } },
): (values: Values) => ReturnType<Query> {
  const { sql, params } = statement.toSQL();
  const names = params.map((param) => {
    if (param instanceof Placeholder) return String(param.name);
    throw new Error(`the statement has a value in it: ${sql}`);
  });
  return (values) =>
    query(
      sql,
      names.map((name) => values[name] ?? null),
    );
}
