import type { Request } from './history.ts';
import { type Random, randomOf } from './random.ts';

export type DatabaseName = 'postgres' | 'embedded';

export type FaultName =
  | 'freeze'
  | 'kill'
  | 'freezeBackends'
  | 'holdNetwork'
  | 'loseResponses'
  | 'cutNetwork'
  | 'restartPostgres'
  | 'promoteStandby'
  | 'flood';

/** A fault, with the milliseconds from the start of the history at which it begins and ends. */
interface Fault {
  readonly name: FaultName;
  /** The instance that it concerns. */
  readonly instance: number;
  readonly start: number;
  readonly end: number;
}

/** A call of a client, after a pause in milliseconds. */
export interface Step {
  readonly pause: number;
  readonly surface: 'REST' | 'tRPC';
  readonly request: Request;
}

/** All of a history that a seed determines. */
export interface Schedule {
  readonly clients: number;
  readonly ids: readonly number[];
  readonly faults: readonly Fault[];
  /** The endless steps of a client. */
  steps(client: number): Generator<Step>;
}

/** Milliseconds without a fault at the start of a history. */
const warmUp = 700;

/** Milliseconds of a long fault: long enough for clients to give up, and to change the ids elsewhere. */
const long = [8_000, 9_500] as const;

type Plan = (random: Random, instances: number) => Fault[];

const once =
  (name: FaultName, [min, max]: readonly [number, number]): Plan =>
  (random, instances) => {
    const instance = random.whole(0, instances - 1);
    return [{ name, instance, start: warmUp, end: warmUp + random.whole(min, max) }];
  };

const repeatedly =
  (name: FaultName, times: number, [min, max]: readonly [number, number]): Plan =>
  (random, instances) => {
    let end = 0;
    return Array.from({ length: times }, () => {
      const start = end + warmUp;
      end = start + random.whole(min, max);
      return { name, instance: random.whole(0, instances - 1), start, end };
    });
  };

/**
 * The faults of a database. Histories with consecutive seeds take turns, so that a minute of histories
 * has most of them.
 */
const plans: Record<DatabaseName, readonly [Plan, ...Plan[]]> = {
  postgres: [
    once('freeze', long),
    repeatedly('loseResponses', 3, [800, 2_500]),
    once('freezeBackends', long),
    repeatedly('kill', 2, [200, 1_500]),
    once('freeze', long),
    once('holdNetwork', long),
    repeatedly('loseResponses', 3, [800, 2_500]),
    repeatedly('cutNetwork', 4, [100, 800]),
    once('flood', [9_000, 10_000]),
    repeatedly('restartPostgres', 2, [200, 1_500]),
    once('promoteStandby', [0, 0]),
  ],
  embedded: [
    once('freeze', long),
    repeatedly('kill', 2, [200, 1_500]),
    once('flood', [9_000, 10_000]),
  ],
};

/**
 * Makes the schedule of a seed.
 *
 * @param firstId the least of its ids
 */
export function scheduleOf(database: DatabaseName, seed: number, firstId = 1): Schedule {
  const random = randomOf(seed);
  const ofDatabase = plans[database];
  const plan = ofDatabase[seed % ofDatabase.length] ?? ofDatabase[0];
  const faults = plan(random, database === 'postgres' ? 2 : 1);
  const clients = random.whole(20, 50);
  const ids = Array.from({ length: Math.ceil(clients / 2) }, (_, i) => firstId + i);
  return {
    clients,
    ids,
    faults,
    steps: (client) => stepsOf(client, ids, randomOf(seed * 1_000 + client)),
  };
}

/**
 * The calls of a client are unkind: they create, read and delete few ids again and again. Nearly every
 * create has a content of its own, so that the clients notice when an old one is back.
 */
function* stepsOf(client: number, ids: readonly number[], random: Random): Generator<Step> {
  const home = ids[client % ids.length] ?? 0;
  let content: { name: string; tag?: string } = { name: `${client}.0` };
  for (let step = 1; ; step++) {
    const id = random.isLikely(0.7) ? home : (ids[random.whole(0, ids.length - 1)] ?? home);
    if (!random.isLikely(0.2)) {
      const name = `${client}.${step}`;
      content = random.isLikely(0.5) ? { name, tag: 'herb' } : { name };
    }
    const create: Request = { procedure: 'createPlant', input: { id, ...content } };
    const get: Request = { procedure: 'getPlant', input: { id } };
    const remove: Request = { procedure: 'deletePlant', input: { id } };
    const after = id - random.whole(1, ids.length);
    const list: Request = {
      procedure: 'listPlants',
      input: { after: Math.max(after, (ids[0] ?? 0) - 1), limit: random.whole(1, ids.length) },
    };
    yield {
      pause: random.whole(20, 400),
      surface: random.pick(['REST', 'tRPC']),
      request: random.pick([create, create, create, remove, remove, get, get, get, list]),
    };
  }
}
