import type { DistributeOptions, DistributeResult } from './operator/distribute.ts';
import type { ClusterState } from './operator/inspect-cluster.ts';

/**
 * Distributes the tables of the store and their rows over the nodes of a Citus cluster. It distributes
 * plants by id, and copies the access tokens and the list of migrations to each node. Creates go on, unless
 * `isBlocking` is set. When it fails, call it again: it does only the missing steps.
 *
 * @throws ClusterError when the cluster or the tables are not ready for it
 */
export async function distributePlants(options: DistributeOptions): Promise<DistributeResult> {
  const { distributeOnCitus } = await import('./operator/distribute-on-citus.ts');
  return distributeOnCitus(options);
}

/**
 * Reads the state of the Citus cluster that a database is a part of, and changes nothing.
 *
 * @returns undefined when the database is not part of a cluster
 * @throws an error of the connection or the database
 */
export async function inspectCluster(databaseUrl: string): Promise<ClusterState | undefined> {
  const { inspectOnCitus } = await import('./operator/inspect-on-citus.ts');
  return inspectOnCitus(databaseUrl);
}
