import { type AnyColumn, type SQL, sql } from 'drizzle-orm';

/**
 * Selects a text column exactly as it is stored. PGlite 0.5 drops a U+FEFF at the beginning of a
 * value, as if it were the byte order mark of a file. So the database adds a dot in front of the
 * value, and the mapper removes it.
 */
export function exactText<T extends string | null>(column: AnyColumn): SQL<T> {
  return sql<T>`'.' || ${column}`.mapWith((text: string) => withoutDot(text) as T); // Drizzle maps no null.
}

/** Removes the dot from a value that Drizzle does not map. */
export function withoutDot(text: string): string {
  return text.slice(1);
}
