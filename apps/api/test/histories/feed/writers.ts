import { setTimeout } from 'node:timers/promises';
import type { PlantStore } from '@plant-store/core';
import postgres from 'postgres';
import { callers } from '../../fixtures/callers.ts';
import { type Random, randomOf } from '../random.ts';
import type { SeenChange } from './copy.ts';
import { type FeedWorld, pickTarget } from './feed-world.ts';

/** Writes until the phase is over. */
type Writer = (writes: Writes, isOver: () => boolean) => Promise<void>;

/** The inputs of a writer, and its acknowledged creates. */
export interface Writes {
  readonly world: FeedWorld;
  readonly store: PlantStore;
  readonly random: Random;
  /** The creates that the store has acknowledged. */
  readonly acknowledged: SeenChange[];
  /** Makes a plant with a unique name. */
  newPlant(id?: number): NewPlant;
}

interface NewPlant {
  readonly id: number;
  readonly name: string;
  readonly tag?: string;
}

const createOf = ({ id, name }: NewPlant): SeenChange => ({
  type: 'created',
  id: BigInt(id),
  name,
});

/** The number of ids that all writers change again and again. */
const hotIds = 12;

/** A client waits for a response for this many milliseconds. */
const patience = 3_000;

export function createWrites(world: FeedWorld, store: PlantStore, seed: number): Writes {
  const random = randomOf(seed * 100);
  let count = 0;
  return {
    world,
    store,
    random,
    acknowledged: [],
    newPlant(id = random.isLikely(0.8) ? random.whole(1, hotIds) : 1_000 + count) {
      const name = `${seed}.${count++}`;
      return random.isLikely(0.5) ? { id, name, tag: 'herb' } : { id, name };
    },
  };
}

export const writers: readonly Writer[] = [
  ...Array.from({ length: 5 }, (): Writer => callApi),
  holdTransactions,
  importPlants,
  writeHastily,
];

async function untilActive(world: FeedWorld): Promise<void> {
  while (world.rest.isOn) await setTimeout(10);
}

/** Creates and deletes plants. Sends each call to a random instance. */
async function callApi(writes: Writes, isOver: () => boolean): Promise<void> {
  const { world, random, newPlant } = writes;
  while (!isOver()) {
    await untilActive(world);
    const plant = newPlant();
    const several = Array.from({ length: random.whole(2, 12) }, () => newPlant());
    const actions = {
      create: () => call(writes, 'createPlant', { ...plant }),
      createSeveral: () => call(writes, 'createPlants', { plants: several }),
      delete: () => call(writes, 'deletePlant', { id: plant.id }),
      async replace() {
        await actions.delete();
        await actions.create();
      },
      async overlap() {
        await Promise.all([actions.delete(), actions.createSeveral(), actions.create()]);
      },
    };
    const name = random.pick(['create', 'createSeveral', 'delete', 'replace', 'overlap']);
    await actions[name as keyof typeof actions]();
    await setTimeout(random.whole(10, 150));
  }
}

async function call(
  { world, random, acknowledged }: Writes,
  procedure: 'createPlant' | 'createPlants' | 'deletePlant',
  input: Record<string, unknown>,
): Promise<void> {
  try {
    const target = pickTarget(world, random);
    const { call } = random.pick(callers);
    const outcome = await call(target, procedure, input, AbortSignal.timeout(patience));
    if (outcome.error !== undefined) return;
    if (procedure === 'createPlant') acknowledged.push(createOf(input as unknown as NewPlant));
    if (procedure === 'createPlants') {
      const { results } = outcome.output as { results: { result: string }[] };
      const plants = input['plants'] as NewPlant[];
      acknowledged.push(...plants.filter((_, i) => results[i]?.result === 'created').map(createOf));
    }
  } catch {
    // The call got no response, so nobody knows whether the call had an effect.
  }
}

/**
 * Inserts plants in transactions that stay open for a while, as people do at a terminal. Each transaction is
 * a single query, because postgres.js 3.4 ends this process when a connection is lost in a transaction. The
 * URL has one host, because postgres.js could wait forever with two hosts.
 */
async function holdTransactions(writes: Writes, isOver: () => boolean): Promise<void> {
  const { world, random, newPlant } = writes;
  const insert = () => {
    const plants = Array.from({ length: random.whole(1, 4) }, () => newPlant());
    const rows = plants.toSorted((a, b) => a.id - b.id).map(({ id, name }) => `(${id}, '${name}')`);
    return `insert into plants (id, name) values ${rows} on conflict do nothing`;
  };
  while (!isOver()) {
    await setTimeout(random.whole(0, 200));
    await untilActive(world);
    const statements = [
      'begin',
      `set local lock_timeout = '1s'`,
      insert(),
      `select pg_sleep(${random.whole(0, 400) / 1_000})`,
      ...(random.isLikely(0.5) ? [insert()] : []),
      random.isLikely(0.4) ? 'rollback' : 'commit',
    ];
    const sql = connect(writes);
    await sql.unsafe(statements.join(';')).catch(() => {});
    await sql.end({ timeout: 1 });
  }
}

const connect = ({ world, random }: Writes, connection = {}) =>
  postgres(world.databaseOf(random).url, {
    max: 1,
    fetch_types: false,
    connection,
    onnotice: () => {},
  });

/** Creates and deletes plants by SQL, with asynchronous commits. */
async function writeHastily(writes: Writes, isOver: () => boolean) {
  const { random, newPlant } = writes;
  while (!isOver()) {
    const sql = connect(writes, { synchronous_commit: 'off' });
    for (let left = random.whole(1, 20); left > 0 && !isOver(); left--) {
      const { id, name } = newPlant();
      const write = random.isLikely(0.7)
        ? sql`insert into plants (id, name) values (${id}, ${name}) on conflict do nothing`
        : deleteBySql(sql, id);
      const isLost = await write.then(
        () => false,
        () => true,
      );
      if (isLost) break;
      await setTimeout(random.whole(0, 30));
    }
    await sql.end({ timeout: 1 });
    await setTimeout(random.whole(0, 200));
  }
}

/** Deletes a plant as the store does. */
const deleteBySql = (sql: postgres.Sql, id: number) => sql`
  with deleted as (delete from plants where id = ${id} returning *)
  insert into plant_deletions (id, name, tag, created_at, created_in)
  select id, name, tag, created_at, changed_in from deleted`;

/** Creates and deletes many plants at a time. */
async function importPlants(
  { world, store, random, newPlant, acknowledged }: Writes,
  isOver: () => boolean,
): Promise<void> {
  let free = 1_000_000;
  while (!isOver()) {
    await untilActive(world);
    const first = free;
    free += random.whole(20, 80);
    const plants = [
      ...Array.from({ length: free - first }, (_, i) => newPlant(first + i)),
      ...Array.from({ length: random.whole(0, 5) }, () => newPlant()),
    ];
    const outcomes = await store
      .createMany(plants.map((plant) => ({ ...plant, id: BigInt(plant.id) })))
      .catch(() => []);
    acknowledged.push(
      ...plants.filter((_, i) => Object(outcomes[i]).result === 'created').map(createOf),
    );
    await setTimeout(random.whole(0, 200));
    const ids = Array.from({ length: random.whole(1, 40) }, () => random.whole(1_000_000, free));
    for (const id of new Set(ids)) await store.delete(BigInt(id)).catch(() => {});
    await setTimeout(random.whole(0, 200));
  }
}
