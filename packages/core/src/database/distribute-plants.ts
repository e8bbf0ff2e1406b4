import type { DistributeOptions, DistributeResult } from './cluster/distribute.ts';

/**
 * Distributes the tables of the store over the nodes of a Citus cluster, with what they hold: plants by
 * id, and a copy of the access tokens and of the list of migrations on each node. Creates wait
 * meanwhile. When it fails, call it again: it does only what is missing.
 *
 * @throws ClusterError when the cluster or the tables are not ready for it
 */
export async function distributePlants(options: DistributeOptions): Promise<DistributeResult> {
  const { distributeOnCitus } = await import('./postgres/distribute-on-citus.ts');
  return distributeOnCitus(options);
}
