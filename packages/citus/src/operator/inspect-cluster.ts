import {
  ConnectionPool,
  type ConnectTo,
  connectPostgres,
  createConnectToPrimary,
  type FeedState,
  type Query,
  send,
  tableOids,
} from '@plant-store/core/cluster';
import { connectToNode } from '../lanes/node-access.ts';
import { type ClusterRole, clusterRole, settings } from '../shards/cluster-role.ts';
import { isTestedCitus, readShardMap, type StorageNode } from '../shards/shard-map.ts';
import { askNodes } from './ask-nodes.ts';
import { type Instance, readBlindInstances } from './blind-instances.ts';
import { planTables } from './distribute.ts';
import { readNodeFeed } from './node-feed.ts';

/** A Citus cluster, as one of its nodes sees it. */
export interface ClusterState {
  readonly role: ClusterRole;
  readonly tables: readonly TableDistribution[];
  /** The steps that `distributePlants` would take. The list is always empty on a worker. */
  readonly missing: readonly string[];
  /** The nodes that store plants. Empty when the store cannot find the node of every plant. */
  readonly nodes: readonly NodeContent[];
  /** The addresses of all nodes without plants that are down, for example of the coordinator. */
  readonly downWithoutPlants: readonly string[];
  /** The instances that have not noticed the cluster. The list is empty before the plants are distributed. */
  readonly blindInstances: readonly Instance[];
  /** The version of Citus when the store was not tested on this version; otherwise undefined. */
  readonly untestedVersion: string | undefined;
}

/** How Citus distributes a table over its nodes. */
export interface TableDistribution {
  readonly table: string;
  /**
   * With `hash`, a column distributes the rows; with `reference`, each node has a copy; with `local`, only
   * the coordinator has the table.
   */
  readonly kind: 'hash' | 'reference' | 'local' | 'other';
  /** The column by which the table is distributed. Null when the table has no such column. */
  readonly column: string | null;
  readonly shards: number;
}

interface NodeContent extends Pick<StorageNode, 'address' | 'shards'> {
  /** The approximate number of plants on the node. Undefined when the node is down. */
  readonly plants: number | undefined;
  /** The error when this process cannot connect directly to the node. Undefined for a reachable node. */
  readonly directError: unknown;
  /** The state of the node's log. Undefined when this process cannot read the state. */
  readonly feed: FeedState | undefined;
}

/** The time limit to connect to a node, in milliseconds. */
const nodeTimeout = 2_000;

/**
 * Reads the state of the Citus cluster of a database, without changing the cluster.
 *
 * @returns undefined when the database is not a part of a cluster.
 * @throws an error of the connection or the database.
 */
export async function inspectCluster(databaseUrl: string): Promise<ClusterState | undefined> {
  const pool = new ConnectionPool({
    connect: createConnectToPrimary(databaseUrl, { settings }),
    shares: { lookUps: 8 },
  });
  try {
    return await readClusterState(
      (text, values = [], rowsAs = 'arrays') =>
        pool.run(text, values, { share: 'lookUps', rowsAs }),
      (host, port, timeout) =>
        connectPostgres({ url: databaseUrl, host, port, timeout, readOnly: true, settings }),
    );
  } finally {
    void pool.close();
  }
}

async function readClusterState(
  query: Query,
  connectTo: ConnectTo,
): Promise<ClusterState | undefined> {
  const role = await clusterRole(query);
  if (!role) return undefined;
  const { steps } = role === 'coordinator' ? await planTables(query) : { steps: [] };
  const tables = await send<TableDistribution>(query, selectDistribution);
  const { rows } = await query(`select extversion from pg_extension where extname = 'citus'`);
  // The cast is safe, because the query returns one row when Citus is installed.
  const [version = ''] = rows[0] as [string];
  const { isCluster, map } = await readShardMap(query);
  const storing = map?.nodes ?? [];
  const asked = askNodes(query, countPlants);
  const [results, blindInstances, nodes] = await Promise.all([
    asked,
    isCluster ? readBlindInstances(query) : [],
    Promise.all(
      storing.map(async (node) => {
        const { id, address, shards } = node;
        const direct = await readNode(node, map?.clusterId ?? '', connectTo);
        const result = (await asked).find((each) => each.id === id)?.result;
        const plants = result === undefined ? undefined : Number(result);
        return { address, shards, plants, ...direct };
      }),
    ),
  ]);
  const isStoring = (id: number) => storing.some((node) => node.id === id);
  const down = results.filter(({ id, result }) => result === undefined && !isStoring(id));
  return {
    role,
    tables,
    missing: steps.map(({ description }) => description),
    nodes,
    downWithoutPlants: down.map(({ address }) => address),
    blindInstances,
    untestedVersion: isTestedCitus(version) ? undefined : version,
  };
}

async function readNode(
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

// `partkey` is an expression tree that contains the number of the column. A reference table has no `partkey`.
const selectDistribution = `
  select relname as table,
    case when partmethod = 'h' then 'hash'
      when partmethod = 'n' and repmodel = 't' then 'reference'
      when partmethod is null or partmethod = 'n' then 'local'
      else 'other' end as kind,
    attname as column,
    (select count(*)::int from pg_dist_shard where pg_dist_shard.logicalrelid = pg_class.oid) as shards
  from pg_class
    left join pg_dist_partition on pg_dist_partition.logicalrelid = pg_class.oid
    left join pg_attribute on attrelid = pg_class.oid
      and attnum = substring(partkey from ':varattno (\\d+)')::int
  where pg_class.oid in ${tableOids}`;

/**
 * Selects the planner's estimate of the number of plants on a node. Before the first ANALYZE, selects the
 * count in the statistics, which a crash resets.
 */
const countPlants = `
  select coalesce(sum(
    case when relpages = 0 then pg_stat_get_live_tuples(oid)
      else reltuples / relpages * (pg_relation_size(oid) / current_setting('block_size')::int) end
  ), 0)::bigint
  from pg_dist_shard join pg_dist_placement using (shardid)
    join pg_class on pg_class.oid = to_regclass(shard_name(logicalrelid, shardid))
  where logicalrelid::text ~ '\\mplants$'
    and groupid = (select groupid from pg_dist_local_group)`;
