import {
  type FaultProxy,
  hasPgBouncer,
  startFaultProxy,
  startPgBouncer,
} from '@plant-store/test-setup';
import postgres from 'postgres';
import type { PlantsDatabase } from '../../faults/plants-database.ts';
import type { Random } from '../random.ts';
import { type Instance, startInstance, startWorld } from '../world.ts';

/** The processes of a history of the feed: a Postgres, two instances, and one behind PgBouncer. */
export interface FeedWorld {
  readonly token: string;
  readonly database: PlantsDatabase;
  readonly instances: readonly [Instance, ...Instance[]];
  /** The network between this process and the Postgres. */
  readonly feedNetwork: FaultProxy;
  /** Any instance that runs. */
  instanceOf(random: Random): Instance;
  stop(): Promise<void>;
}

export async function startFeedWorld(): Promise<FeedWorld> {
  const { token, database, instances: direct, stop } = await startWorld('postgres');
  if (!database) throw new Error('the world has no Postgres');
  // Without the types of arrays: postgres.js 3.4 ends this process when it cannot read these after a restart.
  const admin = postgres(Object.assign(new URL(database.server.url), { pathname: 'plants' }).href, {
    max: 1,
    fetch_types: false,
    onnotice: () => {},
  });
  const feedNetwork = await startFaultProxy(database.url);
  const pgBouncer = hasPgBouncer ? await startPgBouncer(database.url) : undefined;
  const env = { DATABASE_URL: pgBouncer?.url ?? database.url, PLANT_STORE_TOKEN: token };
  const third = await startInstance('C', env, undefined);
  const instances: FeedWorld['instances'] = [...direct, third];
  return {
    token,
    database: { ...database, admin },
    instances,
    feedNetwork,
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
