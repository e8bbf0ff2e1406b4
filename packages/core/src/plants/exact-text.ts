import { type AnyColumn, type SQL, sql } from 'drizzle-orm';

/**
 * Selects a text column exactly as it is stored. PGlite 0.5 drops a U+FEFF at the beginning of a
 * value, as if it were the byte order mark of a file. So the database adds a dot in front of the
 * value, and `withoutDot` removes it.
 */
export function exactText(column: AnyColumn): SQL {
  return sql`'.' || ${column}`;
}

/** Removes the dot from a value of `exactText`. */
export function withoutDot(text: string): string {
  return text.slice(1);
}
