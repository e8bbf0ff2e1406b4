import { drizzle } from 'drizzle-orm/pg-proxy';
import { migrate } from 'drizzle-orm/pg-proxy/migrator';
import { migrationsFolder } from '../database.ts';
import { queryTimeout, withTimeout } from '../timeout.ts';
import type { Connection } from './connection.ts';

/** Any key works, as long as every instance uses the same one. */
const migrationLock = 0x706c616e7473; // "plants"

/** Milliseconds for a statement of a migration, which may rewrite a large table. */
const migrationTimeout = 10 * 60_000;

/**
 * Applies the missing migrations in one transaction, on a connection of its own. The transaction
 * holds an advisory lock, so that only one instance migrates at a time.
 */
export async function migratePostgres(connect: () => Promise<Connection>): Promise<void> {
  const connection = await connect();
  try {
    const run = (text: string, timeout = queryTimeout) =>
      withTimeout(connection.query(text, [], 'objects'), timeout);
    await run('begin');
    await run(`select pg_advisory_xact_lock(${migrationLock})`);
    await run(`set local statement_timeout = ${migrationTimeout}`);
    const db = drizzle((text) => run(text));
    const runAll = async (statements: string[]) => {
      for (const statement of statements) await run(statement, migrationTimeout);
    };
    await migrate(db, runAll, { migrationsFolder });
    await run('commit');
  } finally {
    await connection.close();
  }
}
