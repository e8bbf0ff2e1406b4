import {
  type ClusterStore,
  ConnectionPool,
  createVerbs,
  databaseCode,
  type Query,
  type Verbs,
} from '@plant-store/core/cluster';
import { clusterRole } from '../shards/cluster-role.ts';
import { clusterIdSignature } from '../shards/node-functions.ts';
import { connectToNode } from './node-access.ts';

/** The time limit to connect to the coordinator, in milliseconds. */
const timeout = 5_000;

/** The SQLSTATE of the error when this node does not have the table. */
const undefinedTable = '42P01';

/**
 * Runs the statements for tables that exist only on the coordinator. All instances therefore read the same
 * lease of a webhook, and use the clock of the coordinator. When the URL names a worker, the store also
 * connects to the coordinator.
 */
export function openCentral({
  database,
  nodes: { connectTo },
}: Pick<ClusterStore, 'database' | 'nodes'>): Pick<Verbs, 'write'> & { close(): Promise<void> } {
  const pool = new ConnectionPool({ shares: { lists: 2 }, connect });
  const coordinator = createVerbs(pool.run);
  const query: Query = (text, values = [], rowsAs = 'arrays') =>
    database.read(text, values, { share: 'lookUps', rowsAs });
  let isOnWorker = false;

  return {
    async write(...statement) {
      if (isOnWorker) return coordinator.write(...statement);
      return database.write(...statement).catch(async (error) => {
        // The rejected statement has changed nothing, so the store may send it to the coordinator.
        if (databaseCode(error) !== undefinedTable) throw error;
        isOnWorker = (await clusterRole(query)) === 'worker';
        if (!isOnWorker) throw error;
        return coordinator.write(...statement);
      });
    },
    close: () => pool.close(),
  };

  async function connect() {
    const { rows } = await query(findCoordinator);
    const [[address, clusterId] = ['', '']] = rows as [string, string][];
    return connectToNode({ id: 0, address }, clusterId, connectTo, timeout);
  }
}

const findCoordinator = `
  select nodename || ':' || nodeport, ${clusterIdSignature} from pg_dist_node
  where groupid = 0 and noderole = 'primary'`;
