import type { Query } from '@plant-store/core/cluster';

// Every command loads this file. Import only types from core here, so that commands start fast.

/** A session waits only 2 s for a silent node, not 30 s. Servers without Citus ignore this setting. */
export const settings = { 'citus.node_connection_timeout': '2000' };

/** The role of a database server in a Citus cluster. Only the coordinator may change tables. */
export type ClusterRole = 'coordinator' | 'worker';

/** Reads the role of a database. Returns undefined when the database does not have the extension. */
export async function clusterRole(query: Query): Promise<ClusterRole | undefined> {
  const { count } = await query(`select from pg_extension where extname = 'citus'`, [], 'objects');
  if (count === 0) return undefined;
  const { rows } = await query('select groupid from pg_dist_local_group');
  const [[group] = []] = rows as [number][]; // The statement selects one column.
  return Number(group) === 0 ? 'coordinator' : 'worker';
}

/** Throws an error on a worker, because only the coordinator migrates. */
export async function checkMigration(query: Query): Promise<void> {
  if ((await clusterRole(query)) === 'worker') throw new Error(workerNotMigrated);
}

const workerNotMigrated =
  'this worker of a Citus cluster does not have the current tables: start an instance on the ' +
  'coordinator, and run plant-store distribute there once';
