import { fileURLToPath } from 'node:url';
import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core';

/** A Postgres, embedded or on a server: what the rest of core needs of it. */
export interface Database {
  readonly db: Drizzle;
  /** Insert statements that may run at the same time. */
  readonly maxInFlight: number;
  readonly query: Query;
  readonly bulk: Bulk;
  close(): Promise<void>;
}

/**
 * Runs a prepared statement. Returns its rows as arrays, as the driver reads them, and how many rows
 * it returned or changed. When the connection is lost, the statement may run a second time.
 */
export type Query = (
  statement: string,
  values: (string | null)[],
) => Promise<{ rows: unknown[]; count: number }>;

/**
 * Access for statements about many plants, which may be slow. On a server they have a connection of
 * their own, so that no request waits for them.
 */
export interface Bulk {
  readonly db: Drizzle;
  readonly query: Query;
  /** Loads rows in COPY's text format into these columns of `plants`: all in one commit, or none. */
  copyPlants(rows: Uint8Array, columns: string): Promise<void>;
  /** Opens a session that only reads. Other statements do not wait for its rows. */
  openCopies(): Promise<CopySession>;
}

/** A session that copies rows out of a database. */
export interface CopySession {
  /**
   * Copies the rows of a query: those of one snapshot, in a format of COPY, in blocks. In the format
   * `text`, a block has whole lines. Times are in UTC. Only one copy may run at a time.
   */
  copyOut(select: string, format: 'csv' | 'text'): AsyncGenerator<Uint8Array>;
  /** Ends the session, and a copy that still runs. The promise is never rejected. */
  close(): Promise<void>;
}

/** Drizzle without transactions, because each statement may run on another connection. */
export type Drizzle = Omit<PgDatabase<PgQueryResultHKT>, 'transaction'>;

/** The folder of the generated SQL migrations; its path is the same from `src` and from `dist`. */
export const migrationsFolder = fileURLToPath(new URL('../../drizzle', import.meta.url));
