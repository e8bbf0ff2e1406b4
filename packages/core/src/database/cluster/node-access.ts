import type { NodeAccess, StorageNode } from '../database.ts';
import type { Connection } from '../postgres/connection.ts';
import { ConnectionPool } from '../postgres/connection-pool.ts';
import { drizzleOver } from '../postgres/drizzle-over.ts';
import { clusterIdSignature } from './insert-function.ts';

interface NodeAccessOptions {
  /** Connects to the node that the URL names. */
  readonly connect: () => Promise<Connection>;
  /** Connects to another node of the cluster, within so many milliseconds. */
  readonly connectTo: (host: string, port: number, timeout: number) => Promise<Connection>;
  readonly max: number;
}

/** Milliseconds after which the store tries again to reach a node that it could not reach itself. */
const retryInterval = 60_000;

/** Milliseconds to connect to a node: for the first time, while plants wait, and afterwards. */
const firstTimeout = 2_000;
const timeout = 5_000;

/**
 * Opens a pool for the plants of one node of a cluster. Its connections lead to that node, so that no
 * other node works for its plants. A node that the store cannot reach itself is reached through the node
 * that the URL names.
 */
export function openNodeAccess(
  { id, address, clusterId }: StorageNode & { clusterId: string },
  { connect, connectTo, max }: NodeAccessOptions,
): NodeAccess & { close(): Promise<void> } {
  const [, host = '', port] = /^(.*):(\d+)$/.exec(address) ?? [];
  /** The connections that lead through the node that the URL names. */
  let others: Connection[] = [];
  let isDirect = false;
  let triedAt = Number.NEGATIVE_INFINITY;

  const pool = new ConnectionPool({
    max,
    async connect() {
      // A node that could be reached once is away now, and another way would not help.
      if (isDirect) return connectDirectly(timeout);
      others = others.filter(({ isOpen }) => isOpen);
      // All connections of the pool lead the same way, because their statements differ.
      if (others.length === 0 && performance.now() - triedAt > retryInterval) {
        triedAt = performance.now();
        const connection = await connectDirectly(firstTimeout).catch(() => undefined);
        isDirect = connection !== undefined;
        if (connection) return connection;
      }
      const connection = await connect();
      others.push(connection);
      return connection;
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
  async function connectDirectly(within: number): Promise<Connection> {
    const connection = await connectTo(host, Number(port), within);
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
