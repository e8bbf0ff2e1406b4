import { fileURLToPath } from 'node:url';
import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core';

/** A Postgres, embedded or on a server, as the rest of core sees it. */
export interface Database {
  readonly db: Drizzle;
  /** How many insert statements should run at once, at most. */
  readonly maxInFlight: number;
  readonly query: Query;
  readonly bulk: Bulk;
  close(): Promise<void>;
}

/**
 * Runs a prepared statement. Returns its rows as arrays, as the driver reads them, and how many rows
 * it returned or changed.
 */
export type Query = (
  statement: string,
  values: (string | null)[],
) => Promise<{ rows: unknown[]; count: number }>;

/** The way for many plants at once: its statements may be slow, and no request waits behind them. */
export interface Bulk {
  readonly db: Drizzle;
  readonly query: Query;
  /** Loads rows in COPY's text format into `plants`: all of them in one commit, or none. */
  copyPlants(rows: string): Promise<void>;
}

/** The beginning of the statement that `copyPlants` sends. */
export const copyIntoPlants = 'copy plants (id, name, tag) from';

/** Has no transactions: each statement runs on whichever connection is idle. */
export type Drizzle = Omit<PgDatabase<PgQueryResultHKT>, 'transaction'>;

/** The generated SQL migrations; the path is the same from `src` and from `dist`. */
export const migrationsFolder = fileURLToPath(new URL('../../drizzle', import.meta.url));
