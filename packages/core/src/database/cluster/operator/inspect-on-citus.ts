import { createConnectToPrimary } from '../../postgres/connect-to-primary.ts';
import { connectPostgres } from '../../postgres/connection.ts';
import { ConnectionPool } from '../../postgres/connection-pool.ts';
import { type ClusterState, inspectCluster } from './inspect-cluster.ts';

/** See `inspectCluster`. Changes nothing. */
export async function inspectOnCitus(databaseUrl: string): Promise<ClusterState | undefined> {
  const pool = new ConnectionPool({ connect: createConnectToPrimary(databaseUrl), max: 8 });
  try {
    return await inspectCluster({
      run: async (text) => (await pool.query(text, [], 'objects')).rows,
      query: pool.query.bind(pool),
      connectTo: (host, port, timeout) =>
        connectPostgres({ url: databaseUrl, host, port, timeout, readOnly: true }),
    });
  } finally {
    pool.close();
  }
}
