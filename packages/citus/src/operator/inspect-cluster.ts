import { ConnectionPool, connectPostgres, createConnectToPrimary } from '@plant-store/core/cluster';
import { settings } from '../shards/cluster-role.ts';
import { type ClusterState, readClusterState } from './cluster-state.ts';

/**
 * Reads the state of the Citus cluster of a database, without changing the cluster.
 *
 * @returns undefined when the database is not a part of a cluster.
 * @throws an error of the connection or the database.
 */
export async function inspectCluster(databaseUrl: string): Promise<ClusterState | undefined> {
  const pool = new ConnectionPool({
    connect: createConnectToPrimary(databaseUrl, { settings }),
    shares: { lookUps: 8 },
  });
  try {
    return await readClusterState(
      (text, values = [], rowsAs = 'arrays') =>
        pool.run(text, values, { share: 'lookUps', rowsAs }),
      (host, port, timeout) =>
        connectPostgres({ url: databaseUrl, host, port, timeout, readOnly: true, settings }),
    );
  } finally {
    void pool.close();
  }
}
