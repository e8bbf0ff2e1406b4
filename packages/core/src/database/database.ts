import { fileURLToPath } from 'node:url';
import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core';

/** A Postgres, wherever it runs, as the rest of core sees it. */
export interface Database {
  readonly db: Drizzle;
  /** How many write statements it is worth having under way at once. */
  readonly maxInFlight: number;
  /** Runs a statement, which the database keeps prepared, and returns how many rows it has changed. */
  execute(statement: string, values: readonly (string | null)[]): Promise<number>;
  readonly bulk: Bulk;
  close(): Promise<void>;
}

/** The way for many plants at once: it may take its time, and nothing else waits for it. */
export interface Bulk {
  readonly db: Drizzle;
  /** Loads rows in COPY's text format into `plants`: all of them in one commit, or none. */
  copyPlants(rows: string): Promise<void>;
}

/** The beginning of the statement that `copyPlants` sends. */
export const copyIntoPlants = 'copy plants (id, name, tag) from';

/** Without transactions: each statement has whichever connection is free. */
export type Drizzle = Omit<PgDatabase<PgQueryResultHKT>, 'transaction'>;

/** The generated SQL migrations; beside `src` as well as beside `dist`. */
export const migrationsFolder = fileURLToPath(new URL('../../drizzle', import.meta.url));
