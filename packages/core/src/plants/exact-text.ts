import { type AnyColumn, type SQL, sql } from 'drizzle-orm';

/**
 * Selects a text column so that it arrives as it is stored: PGlite 0.5 decodes every value as if it
 * were a file, and takes a U+FEFF at its beginning for a byte order mark. So no value begins with it.
 */
export function exactText<T extends string | null>(column: AnyColumn): SQL<T> {
  return sql<T>`'.' || ${column}`.mapWith((text: string) => text.slice(1) as T); // Null is not mapped.
}
