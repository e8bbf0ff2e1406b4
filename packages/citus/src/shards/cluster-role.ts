import { type Query, rootMessage, send } from '@plant-store/core/cluster';

/**
 * With this setting, a session waits two seconds for a silent node, not 30. A server without Citus ignores
 * this setting.
 */
export const settings = { 'citus.node_connection_timeout': '2000' };

/** The role of a database in a Citus cluster. Only the coordinator may change tables. */
export type ClusterRole = 'coordinator' | 'worker';

/** Reads the role of a database. Returns undefined when the database does not have the extension. */
export async function clusterRole(query: Query): Promise<ClusterRole | undefined> {
  const [extension] = await send(query, `select from pg_extension where extname = 'citus'`);
  if (!extension) return undefined;
  const selectGroup = 'select groupid from pg_dist_local_group';
  const [row] = await send<{ groupid: number }>(query, selectGroup);
  return Number(row?.groupid) === 0 ? 'coordinator' : 'worker';
}

/**
 * Only the coordinator migrates. An instance on a worker waits for the coordinator.
 *
 * @throws Error on a worker
 */
export async function checkMigration(query: Query): Promise<void> {
  if ((await clusterRole(query)) === 'worker') throw new Error(workerNotMigrated);
}

const workerNotMigrated =
  'this worker of a Citus cluster does not have the current tables: start an instance on the ' +
  'coordinator, and run plant-store distribute there once';

/**
 * Whether an error is Citus's internal error for plants that are being moved, by a distribution of the table
 * or a split of a shard.
 */
export function hasMoved(error: unknown): boolean {
  return /^could not find valid entry for shard/.test(rootMessage(error));
}
