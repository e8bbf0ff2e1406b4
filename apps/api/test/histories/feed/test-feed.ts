import { startClusterWorld } from '../cluster/cluster-world.ts';
import { type FeedResult, runFeedHistory } from './run-feed-history.ts';
import { startFeedWorld } from './start-feed-world.ts';

const starts = { postgres: startFeedWorld, citus: startClusterWorld };

/** Returns whether the history of a seed promotes a standby, and therefore needs its own world. */
const needsStandby = (seed: number) => seed % 10 === 9;

/**
 * Runs histories of the feed until `isOver` returns true. The parameter of `isOver` is the number of
 * histories that have run. Resolves with true when every follower has got exactly the plants of the store.
 */
export async function testFeed(
  database: keyof typeof starts,
  firstSeed: number,
  isOver: (histories: number) => boolean,
  totals: { histories: number; failed: number },
): Promise<boolean> {
  const start = starts[database];
  const common = await start();
  let failed = 0;
  let changes = 0;
  for (let seed = firstSeed; !isOver(seed - firstSeed); seed++) {
    const startedAt = performance.now();
    const world = needsStandby(seed) ? await start(true) : common;
    const result = await runFeedHistory(world, seed);
    if (world !== common) await world.stop();
    console.log(reportOf(database, seed, result, performance.now() - startedAt));
    totals.histories++;
    changes += result.read;
    if (result.wrong.length > 0) failed++;
  }
  console.log(`the followers of the feed have read ${changes} changes`);
  totals.failed += failed;
  await common.stop();
  return failed === 0;
}

function reportOf(
  database: string,
  seed: number,
  { faults, read, lists, wrong }: FeedResult,
  milliseconds: number,
): string {
  const seconds = (milliseconds / 1_000).toFixed(1);
  const head = `feed ${database} seed ${seed}: ${read} changes read after ${lists} lists in ${seconds} s; ${faults.join(', ')}`;
  return [`${wrong.length > 0 ? '✗' : '✓'} ${head}`, ...wrong.map((line) => `  ${line}`)].join(
    '\n',
  );
}
