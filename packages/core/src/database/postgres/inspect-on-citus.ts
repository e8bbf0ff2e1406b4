import { type ClusterState, inspectCluster } from '../cluster/inspect-cluster.ts';
import { createConnectToPrimary } from './connect-to-primary.ts';
import { ConnectionPool } from './connection-pool.ts';

/** See `inspectCluster`. Changes nothing. */
export async function inspectOnCitus(databaseUrl: string): Promise<ClusterState | undefined> {
  const pool = new ConnectionPool({ connect: createConnectToPrimary(databaseUrl), max: 8 });
  try {
    return await inspectCluster({
      run: async (text) => (await pool.query(text, [], 'objects')).rows,
      query: pool.query.bind(pool),
    });
  } finally {
    pool.close();
  }
}
