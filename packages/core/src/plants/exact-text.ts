import { type AnyColumn, type SQL, sql } from 'drizzle-orm';

/**
 * Selects a text column exactly as it is stored. PGlite 0.5 drops a U+FEFF at the beginning of any
 * value, as if it were the byte order mark of a file, so the database puts a dot in front.
 */
export function exactText<T extends string | null>(column: AnyColumn): SQL<T> {
  return sql<T>`'.' || ${column}`.mapWith((text: string) => withoutDot(text) as T); // Null is not mapped.
}

/** The text behind the dot, for rows that Drizzle does not map. */
export function withoutDot(text: string): string {
  return text.slice(1);
}
