import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core';
import { drizzle } from 'drizzle-orm/pg-proxy';
import type { Run, RunOptions } from './database.ts';

// Not in database.ts, which the published declarations import: Drizzle's own have errors.

/** Drizzle without transactions, because each statement may run on another connection. */
export type Drizzle = Omit<PgDatabase<PgQueryResultHKT>, 'transaction'>;

/** Drizzle over a function that runs statements; `options` is called for each of them. */
export function drizzleOver(run: Run, options: () => RunOptions): Drizzle {
  return drizzle((text, values, method) =>
    run(text, values, { ...options(), rowsAs: method === 'all' ? 'arrays' : 'objects' }),
  );
}
