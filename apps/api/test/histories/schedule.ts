import { type Caller, callers } from '../fixtures/callers.ts';
import type { Request } from './history.ts';
import { type Random, randomOf } from './random.ts';

/** A fault, with its start and end in milliseconds since the start of the history. */
export interface Fault {
  readonly name: FaultName;
  /** The instance that the fault concerns. */
  readonly instance: number;
  readonly start: number;
  readonly end: number;
}

/** A call of a client. The client waits for `pause` milliseconds before the call. */
export interface Step {
  readonly pause: number;
  /** Whether the client, which has left its first instance after an error, returns to the first instance. */
  readonly returns: boolean;
  /** Whether the client gives up when the call has no result. */
  readonly givesUp: boolean;
  readonly caller: Caller;
  readonly request: Request;
}

/** The parts of a history that a seed determines. */
export interface Schedule {
  readonly clients: number;
  readonly ids: readonly number[];
  /** Further ids. No client deletes the plants with these ids. */
  readonly keptIds: readonly number[];
  readonly faults: readonly Fault[];
  /** Returns an endless sequence of steps for a client. */
  steps(client: number): Generator<Step>;
}

/** The time without faults before each fault, in milliseconds. */
const warmUp = 700;

/** The milliseconds of a long fault. During the fault, clients change plants through another instance. */
const long = [8_000, 9_500] as const;

/** How often a fault happens, and its duration in milliseconds. */
interface Plan {
  readonly times: number;
  readonly lasts: readonly [min: number, max: number];
}

const plans = {
  freeze: { times: 1, lasts: long },
  kill: { times: 2, lasts: [200, 1_500] },
  freezeBackends: { times: 1, lasts: long },
  holdNetwork: { times: 1, lasts: long },
  loseResponses: { times: 5, lasts: [800, 2_000] },
  cutNetwork: { times: 5, lasts: [100, 800] },
  restartPostgres: { times: 2, lasts: [200, 1_500] },
  slowFlush: { times: 1, lasts: [500, 9_500] },
  slowFlushCutShort: { times: 1, lasts: [500, 14_000] },
  promoteStandby: { times: 1, lasts: [0, 0] },
  flood: { times: 1, lasts: long },
} satisfies Record<string, Plan>;

export type FaultName = keyof typeof plans;

// The cast is safe, because \`plans\` has no other keys than its type.
export const faultNames = Object.keys(plans) as FaultName[];

/** The possible faults of each database. The seed 0 uses the first fault, and the seed 1 the second fault. */
const turns = {
  postgres: [
    'freeze',
    'loseResponses',
    'freezeBackends',
    'kill',
    'freeze',
    'holdNetwork',
    'loseResponses',
    'cutNetwork',
    'flood',
    'restartPostgres',
    'slowFlush',
    'slowFlushCutShort',
    'promoteStandby',
  ],
  embedded: ['kill', 'freeze', 'kill', 'flood'],
} satisfies Record<string, readonly [FaultName, ...FaultName[]]>;

export type DatabaseName = keyof typeof turns;

// The cast is safe, because \`turns\` has no other keys than its type.
export const databaseNames = Object.keys(turns) as DatabaseName[];

/**
 * Makes the schedule of a seed.
 *
 * @param fault the only fault that happens. By default, the seed chooses the fault
 * @param firstId the lowest id
 */
export function scheduleOf(
  database: DatabaseName,
  seed: number,
  { fault, firstId = 1 }: { fault?: FaultName | undefined; firstId?: number } = {},
): Schedule {
  const random = randomOf(seed);
  const names = turns[database];
  const name = fault ?? names[seed % names.length] ?? names[0];
  const faults = faultsOf(name, database === 'postgres' ? 2 : 1, random);
  const clients = random.whole(20, 50);
  const ids = Array.from({ length: Math.ceil(clients / 2) }, (_, i) => firstId + i);
  const keptIds = [1, 2, 3].map((i) => firstId + ids.length - 1 + i);
  return {
    clients,
    ids,
    keptIds,
    faults,
    steps: (client) => stepsOf(client, ids, randomOf(seed * 1_000 + client)),
  };
}

function faultsOf(name: FaultName, instances: number, random: Random): Fault[] {
  const { times, lasts }: Plan = plans[name];
  let end = 0;
  return Array.from({ length: times }, () => {
    const start = end + warmUp;
    end = start + random.whole(...lasts);
    return { name, instance: random.whole(0, instances - 1), start, end };
  });
}

/**
 * Each client creates, reads and deletes the same few plants again and again, because conflicts reveal
 * errors. Most created plants have a new name, so that the checker notices a deleted plant that comes back.
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
      returns: random.isLikely(0.15),
      givesUp: random.isLikely(0.3),
      caller: random.pick(callers),
      request: random.pick([create, create, create, remove, remove, get, get, get, list]),
    };
  }
}
