import { readMigrationFiles } from 'drizzle-orm/migrator';
import type { ClusterRole, Run } from '../cluster/cluster-role.ts';
import { migrationsFolder } from '../database.ts';

/**
 * Whether no migration is missing on a node of a Citus cluster. Only the coordinator changes tables, so
 * an instance on a worker waits for it. A change needs every node, so the coordinator, too, must not
 * repeat the migrations.
 *
 * @throws Error on a worker, while the coordinator has not migrated and distributed the tables
 */
export async function hasMigrated(role: ClusterRole, run: Run): Promise<boolean> {
  const isMigrated = (await lastMigration(run)) >= lastKnownMigration();
  if (role === 'worker' && !isMigrated) throw new Error(notMigrated);
  return isMigrated;
}

const notMigrated =
  'this worker of a Citus cluster does not have the current tables: start an instance on the ' +
  'coordinator, and run plant-store distribute there once';

async function lastMigration(run: Run): Promise<number> {
  const [table] = await run(`select from pg_tables where schemaname = 'drizzle'`);
  if (!table) return Number.NEGATIVE_INFINITY;
  const statement = 'select max(created_at) as last from drizzle.__drizzle_migrations';
  const [row] = (await run(statement)) as { last: string | null }[];
  return Number(row?.last ?? Number.NEGATIVE_INFINITY);
}

function lastKnownMigration(): number {
  return Math.max(
    ...readMigrationFiles({ migrationsFolder }).map(({ folderMillis }) => folderMillis),
  );
}
