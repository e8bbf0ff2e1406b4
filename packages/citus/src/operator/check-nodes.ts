import type { Query } from '@plant-store/core/cluster';
import { clusterRole } from '../shards/cluster-role.ts';
import { askNodes } from './ask-nodes.ts';

/**
 * Checks that this database is a coordinator, and that all nodes are reachable. Otherwise throws a
 * `ClusterError`. Returns the nodes that may store plants, at least one, each as `host:port`.
 */
export async function checkNodes(query: Query): Promise<string[]> {
  const role = await clusterRole(query);
  if (!role) {
    throw new ClusterError(
      'this database does not have the extension Citus: run CREATE EXTENSION citus on each node, ' +
        'and add the workers with citus_add_node on the coordinator',
    );
  }
  if (role === 'worker') {
    throw new ClusterError('this is a worker of the cluster: connect to its coordinator');
  }
  const all = await askNodes(query, 'select 1');
  const down = all.filter(({ result }) => result === undefined).map(({ address }) => address);
  if (down.length > 0) {
    throw new ClusterError(
      `the coordinator cannot reach ${down.join(', ')}: start these nodes, or check their addresses ` +
        'in pg_dist_node',
    );
  }
  const storing = all.filter(({ mayStore }) => mayStore).map(({ address }) => address);
  if (storing.length === 0) {
    throw new ClusterError(
      'the cluster has no node that may store shards: add one, with citus_add_node',
    );
  }
  return storing;
}

/** The error when somebody must change the cluster before the cluster can store the tables. */
export class ClusterError extends Error {
  override readonly name = 'ClusterError';
}
