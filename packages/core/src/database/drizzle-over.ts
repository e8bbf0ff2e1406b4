import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core';
import { drizzle } from 'drizzle-orm/pg-proxy';
import type { Run, RunOptions } from './database.ts';

// No declaration of the package's face may reach this file: Drizzle's own declarations have errors.

/** Drizzle without transactions, because each statement may run on another connection. */
type Drizzle = Omit<PgDatabase<PgQueryResultHKT>, 'transaction'>;

/** Drizzle over a function that runs statements; `options` is called for each of them. */
export function drizzleOver(run: Run, options: () => RunOptions): Drizzle {
  return drizzle((text, values, method) =>
    run(text, values, { ...options(), rowsAs: method === 'all' ? 'arrays' : 'objects' }),
  );
}

/** Drizzle that only writes statements: it would be too slow to let it run those of requests. */
export const db: Drizzle = drizzle(() => Promise.reject(new Error('it only writes statements')));
