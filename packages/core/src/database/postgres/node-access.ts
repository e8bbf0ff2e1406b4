import { clusterIdSignature } from '../cluster/insert-function.ts';
import type { NodeAccess, StorageNode } from '../database.ts';
import type { Connection } from './connection.ts';
import { ConnectionPool } from './connection-pool.ts';
import { drizzleOver } from './drizzle-over.ts';

interface NodeAccessOptions {
  /** Connects to the node that the URL names. */
  readonly connect: () => Promise<Connection>;
  /** Connects to another node of the cluster. */
  readonly connectTo: (host: string, port: number) => Promise<Connection>;
  readonly max: number;
}

/** Milliseconds after which the store tries again to reach a node that it could not reach itself. */
const retryInterval = 60_000;

/**
 * Opens a pool for the plants of one node of a cluster. Its connections lead to that node, so that no
 * other node works for its plants. A node that the store cannot reach itself is reached through the node
 * that the URL names.
 */
export function openNodeAccess(
  { id, address, clusterId }: StorageNode & { clusterId: string },
  { connect, connectTo, max }: NodeAccessOptions,
): NodeAccess & { close(): void } {
  const [, host = '', port] = /^(.*):(\d+)$/.exec(address) ?? [];
  let isDirect = false;
  let triedAt = Number.NEGATIVE_INFINITY;

  const pool = new ConnectionPool({
    max,
    async connect() {
      // A node that could be reached once is away now, and another way would not help.
      if (isDirect) return connectDirectly();
      if (performance.now() - triedAt < retryInterval) return connect();
      triedAt = performance.now();
      try {
        const connection = await connectDirectly();
        isDirect = true;
        return connection;
      } catch {
        return connect();
      }
    },
  });

  return {
    db: drizzleOver(pool.query.bind(pool)),
    query: pool.queryAgain.bind(pool),
    get isDirect() {
      return isDirect;
    },
    close: () => pool.close(),
  };

  /** The address may lead to another server from here, such as `localhost`. */
  async function connectDirectly(): Promise<Connection> {
    const connection = await connectTo(host, Number(port));
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
}

const identity = `select groupid, ${clusterIdSignature} from pg_dist_local_group`;
