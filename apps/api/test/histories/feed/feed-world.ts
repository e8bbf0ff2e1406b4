import {
  type FaultProxy,
  hasPgBouncer,
  startFaultProxy,
  startPgBouncer,
} from '@plant-store/test-setup';
import postgres from 'postgres';
import type { PlantsDatabase } from '../../faults/plants-database.ts';
import type { Random } from '../random.ts';
import { type Instance, startInstance, startWorld, type World, withStandby } from '../world.ts';

/**
 * The processes of a history of the feed: a Postgres, two instances, and one behind PgBouncer. With a
 * standby, the URLs have both hosts, and no instance is behind PgBouncer.
 */
export interface FeedWorld extends World {
  readonly database: PlantsDatabase;
  /** The network between this process and the Postgres. */
  readonly feedNetwork: FaultProxy;
  /** The URL of the database through this network. */
  readonly feedUrl: string;
  /** Any instance that runs. */
  instanceOf(random: Random): Instance;
}

export async function startFeedWorld(hasStandby = false): Promise<FeedWorld> {
  const world = await startWorld('postgres', hasStandby);
  const { token, database, standby, stop } = world;
  if (!database) throw new Error('the world has no Postgres');
  const url = withStandby(database.url, standby);
  // Without the types of arrays: postgres.js 3.4 ends this process when it cannot read these after a restart.
  const admin = postgres(url, {
    username: 'postgres',
    target_session_attrs: 'primary',
    max: 1,
    fetch_types: false,
    onnotice: () => {},
  });
  const feedNetwork = await startFaultProxy(database.url);
  const pgBouncer = hasPgBouncer && !standby ? await startPgBouncer(url) : undefined;
  const env = { DATABASE_URL: pgBouncer?.url ?? url, PLANT_STORE_TOKEN: token };
  const third = await startInstance('C', env, undefined);
  const instances: FeedWorld['instances'] = [...world.instances, third];
  return {
    token,
    database: { ...database, url, admin },
    standby,
    instances,
    feedNetwork,
    feedUrl: withStandby(feedNetwork.url, standby),
    instanceOf(random) {
      const [one, ...others] = instances.filter(({ url }) => url !== undefined);
      if (!one) throw new Error('no instance runs');
      return random.pick([one, ...others]);
    },
    async stop() {
      await third.kill();
      await pgBouncer?.stop();
      feedNetwork.close();
      await admin.end();
      await stop();
    },
  };
}
