import {
  ConnectionPool,
  type ConnectTo,
  createVerbs,
  type DatabaseConnection,
  type NodeConnections,
  type PoolState,
  type Share,
  type Verbs,
} from '@plant-store/core/cluster';
import { clusterIdSignature } from '../shards/node-functions.ts';
import type { StorageNode } from '../shards/shard-map.ts';

/**
 * The connections for the plants that one node stores. Each node has its own connections, so that other
 * statements continue when one node is down.
 */
export interface NodeAccess extends Verbs {
  /** See `Database`. */
  mayCommit(share: Share): Promise<boolean>;
  pool(): PoolState;
  /** Whether the store connects to the node directly, and not to a node that passes the statements on. */
  readonly isDirect: boolean;
  /** The error if the last attempt to connect directly has failed. */
  readonly directError: unknown;
  /** See `Database`. */
  onClockMoved(listener: (error: Error) => void): void;
  close(): Promise<void>;
}

interface NodeAccessOptions extends Pick<NodeConnections, 'connect' | 'connectTo'> {
  /** Called when a write is still committing one second after its deadline. */
  readonly onUnsettled?: () => void;
}

/** The number of connections to a node for each kind of statement. */
export const nodeShares = { creates: 3, deletes: 1, lookUps: 2, lists: 1 };

/** After this many milliseconds, the store tries again to connect to an unreachable node. */
const retryInterval = 15_000;

/** The time limits in milliseconds of the first direct connection, while plants wait, and of later ones. */
const firstTimeout = 2_000;
const timeout = 5_000;

/**
 * Opens a pool of direct connections to a node, so that the plants of the node cause no work on other nodes.
 * When the store cannot reach the node, the pool connects to the node in the URL, which passes statements on.
 */
export function openNodeAccess(
  { clusterId, ...node }: Pick<StorageNode, 'id' | 'address'> & { clusterId: string },
  { connect, connectTo, onUnsettled = () => {} }: NodeAccessOptions,
): NodeAccess {
  let isDirect = false;
  let directError: unknown;
  let triedAt: number | undefined;

  const pool = new ConnectionPool({
    shares: nodeShares,
    onUnsettled,
    async connect() {
      const first = triedAt === undefined ? await tryDirectly(firstTimeout) : undefined;
      if (first) return first;
      // The store has connected directly before, so the node is down, and a detour would not help.
      if (isDirect) return connectDirectly(timeout);
      const connection = await connect();
      if (!isDirect) return connection;
      // Direct connections need other statements than `connection`, so the pool must not contain both kinds.
      void connection.close();
      return connectDirectly(timeout);
    },
  });

  return {
    ...createVerbs((...statement) => {
      const isDue =
        !isDirect && triedAt !== undefined && performance.now() - triedAt > retryInterval;
      if (isDue) void retry();
      return pool.run(...statement);
    }),
    get isDirect() {
      return isDirect;
    },
    get directError() {
      return directError;
    },
    mayCommit: pool.mayCommit,
    pool: () => pool.state(node.address),
    onClockMoved: (listener) => pool.onClockMoved(listener),
    close: () => pool.close(),
  };

  /** Returns undefined when the store cannot reach the node. */
  async function tryDirectly(within: number): Promise<DatabaseConnection | undefined> {
    triedAt = performance.now();
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

  /** Tries to connect directly. After a success, replaces the connections to the node in the URL. */
  async function retry(): Promise<void> {
    const connection = await tryDirectly(timeout);
    if (!connection) return;
    pool.replaceAll();
    await connection.close();
  }

  function connectDirectly(within: number): Promise<DatabaseConnection> {
    return connectToNode(node, clusterId, connectTo, within);
  }
}

/**
 * Connects to a node of a cluster, and checks the identity of the node. On this machine, an address such as
 * `localhost` may be the address of another server.
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
