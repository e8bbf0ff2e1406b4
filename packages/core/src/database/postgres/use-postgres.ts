import { drizzle } from 'drizzle-orm/pg-proxy';
import type { Drizzle } from '../database.ts';
import { queryWithTimeout } from '../timeout.ts';
import { postgresOverTls } from './tls.ts';

/**
 * Uses a Postgres without migrating it; it may be read-only.
 *
 * @throws PlantStoreError `databaseUnavailable`
 */
export async function usePostgres<T>(url: string, use: (db: Drizzle) => Promise<T>): Promise<T> {
  const client = postgresOverTls(url, { max: 1, onnotice: () => {} });
  const db = drizzle(async (text, parameters) => ({
    rows: [...(await client.unsafe(text, parameters, { prepare: false }).values())],
  }));
  try {
    return await queryWithTimeout(use(db));
  } finally {
    await client.end({ timeout: 0 });
  }
}
