import { setTimeout } from 'node:timers/promises';
import { type FaultProxy, runSql, startFaultProxy } from '@plant-store/test-setup';
import { type PlantsDatabase, plantsOn } from '../../faults/plants-database.ts';
import { faults } from '../faults.ts';
import { feedFaults, untilReady } from '../feed/feed-faults.ts';
import type { BeginFault } from '../feed/feed-world.ts';

/** A node of a cluster. The other nodes and the instances reach the node through `network`. */
export interface ClusterNode {
  /** When a standby is promoted, `promoteStandbyOf` sets a new `database` and a new `network`. */
  database: PlantsDatabase;
  network: FaultProxy;
}

export interface ClusterNodes {
  readonly coordinator: ClusterNode;
  readonly workers: readonly [ClusterNode, ClusterNode, ClusterNode];
  /** The fault `addOrRemoveNode` adds this server to the cluster, or removes this server. */
  readonly spare: ClusterNode;
}

/** Returns the faults that instances, nodes and networks can have. */
export function nodeFaults({ coordinator, workers, spare }: ClusterNodes) {
  /** Returns a fault of the database or the network of a random node. */
  const onNode =
    (fault: BeginFault): BeginFault =>
    (world, instance, random) => {
      const { database, network } = random.pick([coordinator, ...workers, spare]);
      return fault({ ...world, database }, { ...instance, network }, random);
    };
  const { freeze, kill, holdNetwork, loseResponses, cutNetwork } = faults;
  const { restartPostgres, cutFeedNetwork, endBackends, crashBackend, forgetCommits } = feedFaults;
  return {
    freeze,
    kill,
    cutFeedNetwork,
    holdNetwork: onNode(holdNetwork),
    loseResponses: onNode(loseResponses),
    cutNetwork: onNode(cutNetwork),
    restartNode: onNode(restartPostgres),
    freezeNode: onNode(freezeNode),
    endBackends: onNode(endBackends),
    crashBackend: onNode(crashBackend),
    forgetCommits: onNode(forgetCommits),
  };
}

/** Freezes a node for up to four seconds. The feed waits half a second for a node. */
const freezeNode: BeginFault = async ({ database }, _, random) => {
  const thaw = await database.server.freeze();
  await setTimeout(random.whole(0, 4_000));
  return thaw;
};

/** Kills the primary of a node, promotes the standby, and gives the cluster the new address. */
export function promoteStandbyOf(node: ClusterNode, adminUrl: string): BeginFault {
  return async (world) => {
    const { standby } = world;
    if (!standby) throw new Error('the world has no standby');
    const { database, network } = node;
    await database.server.halt('SIGKILL');
    await standby.promote();
    node.network = await startFaultProxy(standby.url);
    node.database = plantsOn(standby, new URL(adminUrl).pathname.slice(1));
    world.standby = undefined;
    await database.admin.end({ timeout: 1 });
    const [before, after] = [network.url, node.network.url].map((url) => new URL(url).port);
    await runSql(
      adminUrl,
      `select citus_update_node(nodeid, nodename, ${after}, true, 100)
        from pg_dist_node where nodeport = ${before}`,
    );
    return async () => {
      await untilReady(node.database.admin);
      // A follower that knows all these plants has noticed the promotion.
      await runSql(
        adminUrl,
        `insert into plants (id, name) select -id, 'after the promotion' from generate_series(1, 30) as id`,
      );
    };
  };
}
