import { randomUUID } from 'node:crypto';
import { citus } from '@plant-store/citus';
import { distributePlants } from '@plant-store/citus/operator';
import { openPlantStore } from '@plant-store/core';
import { createCitusDatabase, startCitus, startFaultProxy } from '@plant-store/test-setup';
import { plantsOn, startSynchronousStandby } from '../../faults/plants-database.ts';
import type { FeedWorld } from '../feed/feed-world.ts';
import { startInstance } from '../world.ts';
import {
  type ClusterNode,
  type ClusterNodes,
  nodeFaults,
  promoteStandbyOf,
} from './node-faults.ts';
import { shardFaults } from './shard-faults.ts';

/** The initial number of shards. Each worker has one shard. */
const shards = 3;

const settings = {
  // No test crashes the machine, so no test needs fsync.
  fsync: 'off',
  // After a crash of a node, prepared transactions hide changes until Citus ends these transactions. With
  // this setting, Citus ends prepared transactions every second. By default, Citus does this every minute.
  'citus.recover_2pc_interval': '1000',
};

/**
 * Starts a coordinator, three workers, a spare server and three instances. The instances have the URLs of
 * three different nodes. In a world with a standby, the last worker has a synchronous standby.
 */
export async function startClusterWorld(hasStandby = false): Promise<FeedWorld> {
  const cluster = await startCitus({ workers: 4, settings });
  const { url, adminUrl } = await createCitusDatabase(cluster.addresses, 3);
  const pathname = new URL(url).pathname.slice(1);
  const nodes = [cluster.coordinator, ...cluster.workers].map(({ server, proxy }): ClusterNode => {
    if (!proxy) throw new Error('the node has no proxy');
    return { database: plantsOn(server, pathname), network: proxy };
  });
  const [coordinator, one, two, three, spare] = nodes;
  if (!coordinator || !one || !two || !three || !spare) throw new Error('a node is missing');
  await (await openPlantStore({ databaseUrl: url, cluster: citus })).close();
  await distributePlants({ databaseUrl: url, shards, confirm: async () => true });
  const standby = hasStandby ? await startSynchronousStandby(three.database) : undefined;

  const token = randomUUID();
  const start = (name: string, { network }: ClusterNode) => {
    const nodeUrl = Object.assign(new URL(network.url), { username: 'gardener', pathname });
    return startInstance(name, { DATABASE_URL: nodeUrl.href, PLANT_STORE_TOKEN: token }, network);
  };
  const instances: FeedWorld['instances'] = [
    await start('A', coordinator),
    await start('B', one),
    await start('C', two),
  ];
  const feedNetwork = await startFaultProxy(url);
  const clusterNodes: ClusterNodes = { coordinator, workers: [one, two, three], spare };
  return {
    token,
    database: coordinator.database,
    databases: () => nodes.map(({ database }) => database),
    databaseOf: (random) => random.pick([coordinator, one, two, three]).database,
    isCluster: true,
    standby,
    instances,
    feedNetwork,
    feedUrl: feedNetwork.url,
    rest: { isOn: false },
    faults: { ...nodeFaults(clusterNodes), ...shardFaults(clusterNodes, { url, adminUrl }) },
    promote: promoteStandbyOf(three, adminUrl),
    moves: 0,
    async stop() {
      for (const instance of instances) await instance.kill();
      feedNetwork.close();
      for (const { network } of nodes) network.close();
      for (const { database } of nodes) await database.admin.end({ timeout: 1 });
      await cluster.stop();
      await standby?.stop();
    },
  };
}
