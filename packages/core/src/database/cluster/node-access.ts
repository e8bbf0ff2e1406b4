import type { NodeAccess, StorageNode } from '../database.ts';
import type { Connection } from '../postgres/connection.ts';
import { ConnectionPool } from '../postgres/connection-pool.ts';
import { drizzleOver } from '../postgres/drizzle-over.ts';
import { type ConnectTo, connectToNode } from './connect-to-node.ts';

interface NodeAccessOptions {
  /** Connects to the node that the URL names. */
  readonly connect: () => Promise<Connection>;
  /** Connects to another node of the cluster. */
  readonly connectTo: ConnectTo;
  readonly max: number;
  /** Milliseconds, as of `performance.now`. */
  readonly now?: () => number;
}

/** Milliseconds after which the store tries again to reach a node that it could not reach itself. */
const retryInterval = 15_000;

/** Milliseconds to connect to a node: for the first time, while plants wait, and afterwards. */
const firstTimeout = 2_000;
const timeout = 5_000;

/**
 * Opens a pool for the plants of one node of a cluster. Its connections lead to that node, so that no
 * other node works for its plants. A node that the store cannot reach itself is reached through the node
 * that the URL names.
 */
export function openNodeAccess(
  { clusterId, ...node }: StorageNode & { clusterId: string },
  { connect, connectTo, max, now = () => performance.now() }: NodeAccessOptions,
): NodeAccess & { close(): Promise<void> } {
  let isDirect = false;
  let directError: unknown;
  let triedAt: number | undefined;

  const pool = new ConnectionPool({
    max,
    async connect() {
      const first = triedAt === undefined ? await tryDirectly(firstTimeout) : undefined;
      if (first) return first;
      // A node that could be reached once is away now, and another way would not help.
      if (isDirect) return connectDirectly(timeout);
      const connection = await connect();
      if (!isDirect) return connection;
      // All connections of the pool lead the same way, because their statements differ.
      void connection.close();
      return connectDirectly(timeout);
    },
  });

  return {
    db: drizzleOver(pool.query.bind(pool)),
    query(...statement) {
      const isDue = !isDirect && triedAt !== undefined && now() - triedAt > retryInterval;
      if (isDue) void retry();
      return pool.queryAgain(...statement);
    },
    get isDirect() {
      return isDirect;
    },
    get directError() {
      return directError;
    },
    close: () => pool.close(),
  };

  /** Returns undefined when the node cannot be reached. */
  async function tryDirectly(within: number): Promise<Connection | undefined> {
    triedAt = now();
    try {
      const connection = await connectDirectly(within);
      isDirect = true;
      directError = undefined;
      return connection;
    } catch (error) {
      directError = error;
      return undefined;
    }
  }

  /** Replaces the connections through the other node when this one can be reached now. */
  async function retry(): Promise<void> {
    const connection = await tryDirectly(timeout);
    if (!connection) return;
    pool.replaceAll();
    await connection.close();
  }

  function connectDirectly(within: number): Promise<Connection> {
    return connectToNode(node, clusterId, connectTo, within);
  }
}
