import { drizzle } from 'drizzle-orm/pg-proxy';
import { migrate } from 'drizzle-orm/pg-proxy/migrator';
import { migrationsFolder } from '../database.ts';
import { deadline, inTime } from '../timeout.ts';
import type { Connection } from './connection.ts';

/** Any key will do, as long as every instance of the store uses the same one. */
const migrationLock = 0x706c616e7473; // "plants"

/** Milliseconds for a statement of a migration: it may have a large table to go through. */
const migrationDeadline = 10 * 60_000;

/**
 * Brings the tables up to date, in one transaction on a connection of its own. One instance does so
 * at a time; the lock is the transaction's, so that it ends with that and needs no unlocking.
 */
export async function migratePostgres(connect: () => Promise<Connection>): Promise<void> {
  const connection = await connect();
  try {
    const run = (text: string, within = deadline) =>
      inTime(connection.query(text, [], 'objects'), within);
    await run('begin');
    await run(`select pg_advisory_xact_lock(${migrationLock})`);
    await run(`set local statement_timeout = ${migrationDeadline}`);
    const db = drizzle((text) => run(text));
    const runAll = async (statements: string[]) => {
      for (const statement of statements) await run(statement, migrationDeadline);
    };
    await migrate(db, runAll, { migrationsFolder });
    await run('commit');
  } finally {
    await connection.close();
  }
}
