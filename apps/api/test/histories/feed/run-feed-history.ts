import { setTimeout } from 'node:timers/promises';
import { openPlantStore } from '@plant-store/core';
import { type Random, randomOf } from '../random.ts';
import { differences } from './copy.ts';
import type { BeginFault, FeedWorld } from './feed-world.ts';
import { type Follower, startFollower } from './follower.ts';
import {
  emptyPlants,
  isCommitted,
  readJournal,
  readTable,
  startJournal,
  wrongChanges,
} from './journal.ts';
import { ways } from './ways.ts';
import { createWrites, type Writes, writers } from './writers.ts';

export interface FeedResult {
  readonly faults: readonly string[];
  /** The number of changes that the followers have read. */
  readonly read: number;
  readonly lists: number;
  /** The errors of the feed. */
  readonly wrong: readonly string[];
}

/** Each follower must know all plants within this many milliseconds after the last write. */
const patience = 60_000;

/** The number of phases. After each phase, the test compares the plants of each follower with the table. */
const phases = 2;

type NamedFault = [name: string, begin: BeginFault];

/**
 * Runs the writers, followers and faults of a seed. In the end, every follower must know exactly the plants
 * of the store. Every follower must see the changes of an id in the right order.
 */
export async function runFeedHistory(world: FeedWorld, seed: number): Promise<FeedResult> {
  const random = randomOf(seed);
  await startJournal(world);
  const store = await openPlantStore({ databaseUrl: world.feedUrl });
  const writes = createWrites(world, store, seed);
  const followers = Object.entries(ways)
    // The command line starts slowly, so only every third seed has a follower that uses the command line.
    .filter(([name]) => name !== 'command line' || seed % 3 === 0)
    .map(([name, way], i) => startFollower(name, way, world, randomOf(seed * 100 + 1 + i)));
  const faults: string[] = [];
  const wrong: string[] = [];
  const isTruncated = seed % 8 === 7;
  const promotions = world.standby ? 1 : 0;
  const movesBefore = world.moves;
  for (let phase = 0; phase < phases; phase++) {
    if (isTruncated && phase === 1) await emptyPlants(world.database);
    await writeDuring(writes, () => causeFaults(world, random, phase, faults));
    wrong.push(...(await whatDiffers(world, followers)));
    if (wrong.length > 0) break;
  }
  await Promise.all(followers.map((follower) => follower.stop()));
  await store.close();

  const journal = await readJournal(world);
  const lost = writes.acknowledged.filter((change) => !isCommitted(journal, change));
  wrong.push(...lost.map(({ id, name }) => `the database has lost the plant ${id} ${name}`));
  for (const { name, changes, expired, unexpected } of followers) {
    const messages = changes.flatMap((seen) => wrongChanges(journal, seen)).slice(0, 5);
    // Each promotion lets a cursor of each follower expire. A move of plants can change this number, because
    // the move lets cursors expire, and because the promoted node may have no plants after the move.
    const isExpected =
      world.moves > movesBefore || (isTruncated ? expired >= promotions : expired === promotions);
    if (!isExpected) messages.push(`${expired} cursors were rejected`);
    wrong.push(...[...messages, ...unexpected].map((message) => `${name}: ${message}`));
  }
  const read = followers.reduce((sum, follower) => sum + follower.read, 0);
  const lists = followers.reduce((sum, { changes }) => sum + changes.length, 0);
  return { faults, read, lists, wrong };
}

async function writeDuring(writes: Writes, act: () => Promise<void>): Promise<void> {
  let isOver = false;
  const writing = writers.map((write) => write(writes, () => isOver));
  try {
    await act();
  } finally {
    isOver = true;
    await Promise.all(writing);
  }
}

/** In a world with a standby, the second phase begins with the promotion of the standby. */
async function causeFaults(world: FeedWorld, random: Random, phase: number, faults: string[]) {
  for (let left = random.whole(1, 3); left > 0; left--) {
    await setTimeout(random.whole(50, 500));
    const isPromotion = phase > 0 && world.standby !== undefined;
    const anyFault = Object.entries(world.faults) as [NamedFault, ...NamedFault[]];
    const promotion: NamedFault = ['promoteStandby', world.promote];
    const [name, begin] = isPromotion ? promotion : random.pick(anyFault);
    const instance = random.pick(world.instances);
    faults.push(`${name} ${instance.name}`);
    const end = await begin(world, instance, random);
    await setTimeout(random.whole(50, 700));
    await end();
  }
  await setTimeout(random.whole(50, 300));
}

/** Waits until each follower knows the plants of the table. At the time limit, returns the differences. */
async function whatDiffers(world: FeedWorld, followers: readonly Follower[]): Promise<string[]> {
  const until = performance.now() + patience;
  for (;;) {
    const table = await readTable(world.database.admin);
    const all = followers.flatMap(({ name, copy }) =>
      differences(table, copy).map((difference) => `${name}: ${difference}`),
    );
    if (all.length === 0 || performance.now() > until) return all;
    await setTimeout(50);
  }
}
