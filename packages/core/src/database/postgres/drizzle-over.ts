import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core';
import { drizzle } from 'drizzle-orm/pg-proxy';
import type { Drizzle } from '../database.ts';
import type { ConnectionPool } from './connection-pool.ts';

// Not in database.ts: the published declarations reach that file, and Drizzle's declarations have errors.
declare module '../database.ts' {
  interface Drizzle extends Omit<PgDatabase<PgQueryResultHKT>, 'transaction'> {}
}

/** Drizzle over a function that runs statements. */
export function drizzleOver(query: ConnectionPool['query']): Drizzle {
  return drizzle((text, parameters, method) =>
    query(text, parameters, method === 'all' ? 'arrays' : 'objects'),
  );
}
