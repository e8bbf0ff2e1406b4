import { drizzle } from 'drizzle-orm/pg-proxy';
import type { Drizzle } from '../database.ts';
import type { ConnectionPool } from './connection-pool.ts';

/** Drizzle over a function that runs statements. */
export function drizzleOver(query: ConnectionPool['query']): Drizzle {
  return drizzle((text, parameters, method) =>
    query(text, parameters, method === 'all' ? 'arrays' : 'objects'),
  );
}
