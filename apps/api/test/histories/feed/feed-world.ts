import {
  type FaultProxy,
  hasPgBouncer,
  startFaultProxy,
  startPgBouncer,
  type TestPostgres,
} from '@plant-store/test-setup';
import type { PlantsDatabase } from '../../faults/plants-database.ts';
import type { Random } from '../random.ts';
import { type Instance, startInstance, startWorld, type World, withStandby } from '../world.ts';
import { type BeginFault, feedFaults, promoteStandby } from './feed-faults.ts';

/** The processes of a history of the feed: a Postgres or a cluster, and three instances of the server. */
export interface FeedWorld extends World {
  /** The primary, or the coordinator of a cluster. */
  database: PlantsDatabase;
  /** The database on each node. A single Postgres has one node. */
  databases(): readonly PlantsDatabase[];
  /** Returns the database on a random node of those that store plants. */
  databaseOf(random: Random): PlantsDatabase;
  readonly isCluster: boolean;
  /** The standby. Undefined in a world without a standby, and after the standby has been promoted. */
  standby: TestPostgres | undefined;
  /** The network between this process and the first value of `database`. */
  readonly feedNetwork: FaultProxy;
  /** The URL of the database through `feedNetwork`. */
  readonly feedUrl: string;
  /** Whether the writers with synchronous commits pause. */
  readonly rest: { isOn: boolean };
  /** The faults that can happen in any order. */
  readonly faults: Record<string, BeginFault>;
  /** Promotes the standby. */
  readonly promote: BeginFault;
  /** The number of faults so far that moved plants to other nodes or shards. */
  moves: number;
  /** Returns a random instance that runs. */
  instanceOf(random: Random): Instance;
}

/**
 * Starts a Postgres. The third instance uses PgBouncer. In a world with a standby, all instances and followers
 * know both hosts, and nothing uses PgBouncer.
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
    isCluster: false,
    rest: { isOn: false },
    faults: feedFaults,
    promote: promoteStandby,
    moves: 0,
    instanceOf: pickRunning(instances),
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

/** Makes a function that returns a random instance that runs. */
export function pickRunning(instances: readonly Instance[]): FeedWorld['instanceOf'] {
  return (random) => {
    const [one, ...others] = instances.filter(({ url }) => url !== undefined);
    if (!one) throw new Error('no instance runs');
    return random.pick([one, ...others]);
  };
}
