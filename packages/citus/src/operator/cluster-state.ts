import { type ConnectTo, type FeedState, type Query, withTimeout } from '@plant-store/core/cluster';
import { connectToNode } from '../lanes/node-access.ts';
import { type ClusterRole, clusterRole } from '../shards/cluster-role.ts';
import { countOnNode } from '../shards/node-functions.ts';
import { isTestedCitus, readShardMap, type StorageNode } from '../shards/shard-map.ts';
import { type Instance, readBlindInstances } from './blind-instances.ts';
import { planTables } from './distribute.ts';
import { readNodeFeed } from './node-feed.ts';

/** A Citus cluster, as one of its nodes sees it. */
export interface ClusterState {
  readonly role: ClusterRole;
  /** The steps that `distributePlants` would take. The list is always empty on a worker. */
  readonly missing: readonly string[];
  /** The nodes that store plants. The list is empty when the store cannot insert by node. */
  readonly nodes: readonly NodeContent[];
  /** The addresses of the nodes that are down and store no plants, such as the coordinator. */
  readonly downWithoutPlants: readonly string[];
  /** The instances that have not noticed the cluster. The list is empty before the plants are distributed. */
  readonly blindInstances: readonly Instance[];
  /** The version of Citus when the store was not tested on this version; otherwise undefined. */
  readonly untestedVersion: string | undefined;
}

interface NodeContent {
  /** The host and port of the node, as the cluster knows them. */
  readonly address: string;
  readonly shards: number;
  /** The approximate number of plants on the node. Undefined when the node is down. */
  readonly plants: number | undefined;
  /** The error when this process cannot connect directly to the node. Undefined for a reachable node. */
  readonly directError: unknown;
  /** The state of the node's log. Undefined when this process cannot read the state. */
  readonly feed: FeedState | undefined;
}

/** The time limit of a statement on a node, in milliseconds. */
const nodeTimeout = 2_000;

/**
 * Reads the state of a cluster. Returns undefined when the database is not a part of a cluster.
 *
 * @param query runs each statement on a separate connection, because a statement may wait for a silent node
 */
export async function readClusterState(
  query: Query,
  connectTo: ConnectTo,
): Promise<ClusterState | undefined> {
  const role = await clusterRole(query);
  if (!role) return undefined;
  const { steps } = role === 'coordinator' ? await planTables(query) : { steps: [] };
  const { rows } = await query(`select extversion from pg_extension where extname = 'citus'`);
  // The cast is safe, because the query returns one row when Citus is installed.
  const [version = ''] = rows[0] as [string];
  const { isCluster, map } = await readShardMap(query);
  const nodes = map?.nodes ?? [];
  const [contents, downWithoutPlants, blindInstances] = await Promise.all([
    Promise.all(
      nodes.map(async (node) => {
        const [content, direct] = await Promise.all([
          contentOf(node, query),
          readDirectly(node, map?.clusterId ?? '', connectTo),
        ]);
        return { ...content, ...direct };
      }),
    ),
    downNodes(nodes, query),
    isCluster ? readBlindInstances(query) : [],
  ]);
  const missing = steps.map(({ description }) => description);
  return {
    role,
    missing,
    nodes: contents,
    downWithoutPlants,
    blindInstances,
    untestedVersion: isTestedCitus(version) ? undefined : version,
  };
}

async function contentOf(
  { address, shards, someId }: StorageNode,
  query: Query,
): Promise<Omit<NodeContent, 'directError' | 'feed'>> {
  const counted = withTimeout(query(countOnNode, [String(someId)]), nodeTimeout).then(
    ({ rows }) => Number((rows as [string][])[0]?.[0]),
    () => undefined,
  );
  return { address, shards, plants: await counted };
}

async function readDirectly(
  node: StorageNode,
  clusterId: string,
  connectTo: ConnectTo,
): Promise<Pick<NodeContent, 'directError' | 'feed'>> {
  try {
    const connection = await connectToNode(node, clusterId, connectTo, nodeTimeout);
    const feed = await readNodeFeed(connection.query).catch(() => undefined);
    await connection.close();
    return { directError: undefined, feed };
  } catch (directError) {
    return { directError, feed: undefined };
  }
}

/** Returns the addresses of the nodes that are down and are not in `counted`. */
async function downNodes(counted: readonly StorageNode[], query: Query): Promise<string[]> {
  const { rows } = await query(otherNodes, [`{${counted.map(({ id }) => id)}}`]);
  const down = (rows as [string, string][]).map(async ([host, port]) => {
    const connects = withTimeout(query(checkConnection, [host, port]), nodeTimeout).then(
      ({ rows: [row] }) => (row as [boolean])[0],
      () => false,
    );
    return (await connects) ? [] : [`${host}:${port}`];
  });
  return (await Promise.all(down)).flat();
}

const otherNodes = `
  select nodename, nodeport::text from pg_dist_node
  where noderole = 'primary' and isactive and groupid <> all ($1::int[])
    and groupid <> (select groupid from pg_dist_local_group)
  order by groupid`;

const checkConnection = 'select citus_check_connection_to_node($1, $2::int)';
