import type { ConnectTo, DatabaseConnection } from '../database/database.ts';
import { clusterIdSignature } from './node-functions.ts';
import type { StorageNode } from './shard-map.ts';

/**
 * Connects to a node of a cluster itself, and checks that it is that node: its address may lead to
 * another server from here, such as `localhost`.
 */
export async function connectToNode(
  { id, address }: Pick<StorageNode, 'id' | 'address'>,
  clusterId: string,
  connectTo: ConnectTo,
  timeout: number,
): Promise<DatabaseConnection> {
  const [, host = '', port] = /^(.*):(\d+)$/.exec(address) ?? [];
  const connection = await connectTo(host, Number(port), timeout);
  try {
    const { rows } = await connection.query(identity);
    const [[group, cluster] = []] = rows as [number, string][];
    if (Number(group) === id && cluster === clusterId) return connection;
    throw new Error(`${address} is not the node ${id} of the cluster`);
  } catch (error) {
    void connection.close();
    throw error;
  }
}

const identity = `select groupid, ${clusterIdSignature} from pg_dist_local_group`;
