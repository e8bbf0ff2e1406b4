import type { FaultProxy, TestPostgres } from '@plant-store/test-setup';
import type { PlantsDatabase } from '../../faults/plants-database.ts';
import type { Target } from '../../fixtures/surfaces.ts';
import type { Random } from '../random.ts';
import type { Instance, World } from '../world.ts';

/** The processes for a test of the feed: a Postgres, and three instances of the server. */
export interface FeedWorld extends World {
  /** The primary. */
  database: PlantsDatabase;
  /** The database on each node. A single Postgres has one node. */
  databases(): readonly PlantsDatabase[];
  /** Returns the database of a random node that stores plants. */
  databaseOf(random: Random): PlantsDatabase;
  /** `standby` is undefined when the world has no standby, or when the standby has become the primary. */
  standby: TestPostgres | undefined;
  /** The network between this process and the initial database. */
  readonly feedNetwork: FaultProxy;
  /** The URL of the database through `feedNetwork`. */
  readonly feedUrl: string;
  /** Whether the writers with synchronous commits pause. */
  readonly rest: { isOn: boolean };
  /** The faults that can happen in any order. */
  readonly faults: Record<string, BeginFault>;
  /** Promotes the standby. */
  readonly promote: BeginFault;
  /** The number of faults that have moved plants to other nodes or shards. */
  moves: number;
}

/** Begins a fault. Resolves with a function that ends the fault. */
export type BeginFault = (
  world: FeedWorld,
  instance: Instance,
  random: Random,
) => Promise<() => unknown>;

/** Returns the URL and the token of a random instance that runs. */
export function pickTarget({ instances, token }: FeedWorld, random: Random): Target {
  const [one, ...others] = instances.flatMap(({ url }) => (url === undefined ? [] : [url]));
  if (!one) throw new Error('no instance runs');
  return { url: random.pick([one, ...others]), token };
}
