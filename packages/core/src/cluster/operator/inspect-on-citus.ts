import { ConnectionPool } from '../../database/connection-pool.ts';
import { deadlineIn, defaultTimeout } from '../../database/deadline.ts';
import { createConnectToPrimary } from '../../database/postgres/connect-to-primary.ts';
import { connectPostgres } from '../../database/postgres/connection.ts';
import { type ClusterState, inspectCluster } from './inspect-cluster.ts';

/** See `inspectCluster`. Changes nothing. */
export async function inspectOnCitus(databaseUrl: string): Promise<ClusterState | undefined> {
  const pool = new ConnectionPool({
    connect: createConnectToPrimary(databaseUrl),
    shares: { lookUps: 8 },
  });
  const options = () => ({ share: 'lookUps', deadline: deadlineIn(defaultTimeout) }) as const;
  try {
    return await inspectCluster({
      run: async (text) => (await pool.run(text, [], { ...options(), rowsAs: 'objects' })).rows,
      query: (text, values) => pool.run(text, values, options()),
      connectTo: (host, port, timeout) =>
        connectPostgres({ url: databaseUrl, host, port, timeout, readOnly: true }),
    });
  } finally {
    void pool.close();
  }
}
