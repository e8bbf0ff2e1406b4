import { drizzle } from 'drizzle-orm/pg-proxy';
import { migrate } from 'drizzle-orm/pg-proxy/migrator';
import { type ClusterRole, clusterRole } from '../cluster/cluster-role.ts';
import { migrationsFolder } from '../database.ts';
import { queryTimeout, withTimeout } from '../timeout.ts';
import type { Connection } from './connection.ts';
import { hasMigrated } from './migrate-cluster.ts';
import { buildTagIndex } from './tag-index.ts';

/** Any key works, as long as every instance uses the same one. */
const migrationLock = 0x706c616e7473; // "plants"

/** Milliseconds for a statement of a migration, which may rewrite a large table or build an index. */
export const migrationTimeout = 60 * 60_000;

/** Milliseconds to wait for a lock. A waiting statement blocks all that come after it. */
const lockTimeout = 4_500;

/**
 * Applies the missing migrations in one transaction, on a connection of its own. The transaction
 * holds an advisory lock, so that only one instance migrates at a time.
 *
 * @returns what the database is in a cluster
 * @param connect opens a connection whose statements may take as long as `migrationTimeout`
 */
export async function migratePostgres(
  connect: () => Promise<Connection>,
): Promise<{ role: ClusterRole | undefined }> {
  const connection = await connect();
  try {
    const read = async (text: string) => (await connection.query(text, [], 'objects')).rows;
    const role = await withTimeout(clusterRole(read), queryTimeout);
    if (role && (await withTimeout(hasMigrated(role, read), queryTimeout))) return { role };
    await withTimeout(buildTagIndex(connection), migrationTimeout);
    const run = (text: string, timeout = queryTimeout) =>
      withTimeout(connection.query(text, [], 'objects'), timeout);
    await run('begin');
    await run(`set local lock_timeout = ${lockTimeout}`);
    await run(`select pg_advisory_xact_lock(${migrationLock})`);
    const db = drizzle((text) => run(text));
    const runAll = async (statements: string[]) => {
      for (const statement of statements) await run(statement, migrationTimeout);
    };
    await migrate(db, runAll, { migrationsFolder });
    await run('commit');
    return { role };
  } finally {
    await connection.close();
  }
}
