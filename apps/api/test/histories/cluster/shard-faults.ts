import { setTimeout } from 'node:timers/promises';
import { distributePlants } from '@plant-store/citus/operator';
import postgres from 'postgres';
import { onceReady } from '../feed/feed-faults.ts';
import type { BeginFault } from '../feed/feed-world.ts';
import type { Random } from '../random.ts';
import { type ClusterNode, type ClusterNodes, nodeFaults } from './node-faults.ts';

/** A task of an operator who changes the shards. After an error, the operator repeats the task. */
type Operation = (sql: postgres.Sql, random: Random) => Promise<unknown>;

/** A split makes at most this number of shards. */
const maxShards = 8;

/** Faults can interrupt an operation, so the operator tries the operation at most this number of times. */
const maxAttempts = 20;

/** Returns operations that move plants to other nodes or shards. Half of these operations run during a fault. */
export function shardFaults(
  nodes: ClusterNodes,
  { url, adminUrl }: { url: string; adminUrl: string },
): Record<string, BeginFault> {
  const operations: Record<string, Operation> = {
    moveShard,
    drainAndRebalance: async (sql, random) => {
      const worker = addressOf(random.pick(nodes.workers));
      await sql.unsafe(`select citus_drain_node(${worker}, ${modeOf(random)})`);
      await sql.unsafe(`select citus_set_node_property(${worker}, 'shouldhaveshards', true)`);
      await rebalance(sql, random);
    },
    split: async (sql, random) => {
      await split(sql, random);
      // After the split, the nodes have no feed until `distributePlants` runs.
      await setTimeout(random.whole(0, 1_000));
    },
    addOrRemoveNode: async (sql, random) => {
      const spare = addressOf(nodes.spare);
      const members = await sql.unsafe(`
        select from pg_dist_node where (nodename, nodeport) = (${spare}) and isactive`);
      if (members.count === 0) {
        await sql.unsafe(`select citus_add_node(${spare})`);
        return rebalance(sql, random);
      }
      await sql.unsafe(`select citus_drain_node(${spare}, ${modeOf(random)})`);
      await onceReady(() => cleanUp(sql));
      return sql.unsafe(`select citus_remove_node(${spare})`);
    },
  };
  const faults = Object.entries(operations).flatMap(([name, operation]) => {
    const begin: BeginFault = async (world, _, random) => {
      world.moves++;
      const running = insist(operation, random);
      running.catch(() => {}); // The returned function throws the error.
      return () => running;
    };
    const { restartNode, freezeNode, endBackends, crashBackend, kill, cutNetwork } =
      nodeFaults(nodes);
    const others = [restartNode, freezeNode, endBackends, crashBackend, kill, cutNetwork] as const;
    const beginDuringFault: BeginFault = async (world, instance, random) => {
      const end = await begin(world, instance, random);
      await setTimeout(random.whole(0, 1_500));
      const endOther = await random.pick<BeginFault>(others)(world, instance, random);
      return async () => {
        await endOther();
        await end();
      };
    };
    return [
      [name, begin],
      [`${name} during a fault`, beginDuringFault],
    ];
  });
  return Object.fromEntries(faults);

  /** Repeats an operation until the operation succeeds. */
  async function insist(operation: Operation, random: Random): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const sql = postgres(adminUrl, { max: 1, fetch_types: false, onnotice: () => {} });
      try {
        if (attempt > 1) await sql.unsafe('call citus_cleanup_orphaned_resources()');
        await operation(sql, random);
        // `distributePlants` does nothing when the functions in the database know all shards.
        await distributePlants({ databaseUrl: url, shards: 3, confirm: async () => true });
        return;
      } catch (error) {
        if (attempt === maxAttempts) throw error;
        await setTimeout(500);
      } finally {
        await sql.end({ timeout: 1 });
      }
    }
  }
}

/**
 * After a move, Citus leaves the old shard on the node. This function drops all old shards. If an operator
 * removed a node that still has an old shard, Citus could never move this shard again.
 *
 * @throws Error when a shard is still in use
 */
async function cleanUp(sql: postgres.Sql): Promise<void> {
  await sql.unsafe('call citus_cleanup_orphaned_resources()');
  const { count } = await sql.unsafe('select from pg_dist_cleanup');
  if (count > 0) throw new Error(`${count} shards are still in use`);
}

function addressOf({ network }: ClusterNode): string {
  return `'127.0.0.1', ${new URL(network.url).port}`;
}

const modeOf = (random: Random) => `'${random.pick(['force_logical', 'block_writes'])}'`;

async function rebalance(sql: postgres.Sql, random: Random): Promise<void> {
  await sql.unsafe(`select rebalance_table_shards(shard_transfer_mode := ${modeOf(random)})`);
}

const moveShard: Operation = (sql, random) =>
  sql.unsafe(`
    select citus_move_shard_placement(shardid, source.nodename, source.nodeport, target.nodename,
      target.nodeport, ${modeOf(random)})
    from pg_dist_shard join pg_dist_placement using (shardid)
      join pg_dist_node as source using (groupid)
      join pg_dist_node as target on target.groupid <> source.groupid and target.shouldhaveshards
    where logicalrelid = 'plants'::regclass
    order by hashint8(shardid + ${random.whole(0, 1_000)}) limit 1`);

const split: Operation = (sql, random) =>
  sql.unsafe(`
    select citus_split_shard_by_split_points(shardid,
      array[((shardminvalue::bigint + shardmaxvalue::bigint) / 2)::text],
      array[node.nodeid, other.nodeid], ${modeOf(random)})
    from pg_dist_shard join pg_dist_placement using (shardid) join pg_dist_node as node using (groupid)
      join pg_dist_node as other on other.shouldhaveshards
    where logicalrelid = 'plants'::regclass and (select count(*) from pg_dist_shard
      where logicalrelid = 'plants'::regclass) < ${maxShards}
    order by hashint8(shardid + ${random.whole(0, 1_000)}), random() limit 1`);
