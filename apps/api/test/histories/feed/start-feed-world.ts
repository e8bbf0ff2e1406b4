import { hasPgBouncer, startFaultProxy, startPgBouncer } from '@plant-store/test-setup';
import { startInstance, startWorld, withStandby } from '../world.ts';
import { feedFaults, promoteStandby } from './feed-faults.ts';
import type { FeedWorld } from './feed-world.ts';

/**
 * Starts a Postgres. The third instance uses PgBouncer. In a world with a standby, all instances and followers
 * know the hosts of the primary and the standby, and no instance uses PgBouncer.
 */
export async function startFeedWorld(hasStandby = false): Promise<FeedWorld> {
  const world = await startWorld('postgres', hasStandby);
  const { token, database, standby, stop } = world;
  if (!database) throw new Error('the world has no Postgres');
  const feedNetwork = await startFaultProxy(database.url);
  const pgBouncer = hasPgBouncer && !standby ? await startPgBouncer(database.url) : undefined;
  const DATABASE_URL = pgBouncer?.url ?? withStandby(database.url, standby);
  const env = { DATABASE_URL, PLANT_STORE_TOKEN: token };
  const third = await startInstance('C', env, undefined);
  const instances: FeedWorld['instances'] = [...world.instances, third];
  const feedWorld: FeedWorld = {
    token,
    database,
    standby,
    instances,
    feedNetwork,
    feedUrl: withStandby(feedNetwork.url, standby),
    databases: () => [feedWorld.database],
    databaseOf: () => feedWorld.database,
    rest: { isOn: false },
    faults: feedFaults,
    promote: promoteStandby,
    moves: 0,
    async stop() {
      await third.kill();
      await pgBouncer?.stop();
      feedNetwork.close();
      await feedWorld.database.admin.end();
      await stop();
    },
  };
  return feedWorld;
}
