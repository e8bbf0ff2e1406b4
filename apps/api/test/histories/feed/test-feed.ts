import { startFeedWorld } from './feed-world.ts';
import { type FeedResult, runFeedHistory } from './run-feed-history.ts';

/**
 * Runs histories of the feed until `isOver` says so of their number. Resolves with whether every follower
 * got exactly the store.
 */
export async function testFeed(
  firstSeed: number,
  isOver: (histories: number) => boolean,
  totals: { histories: number; failed: number },
): Promise<boolean> {
  const world = await startFeedWorld();
  let failed = 0;
  let changes = 0;
  for (let seed = firstSeed; !isOver(seed - firstSeed); seed++) {
    const start = performance.now();
    const result = await runFeedHistory(world, seed);
    console.log(reportOf(seed, result, performance.now() - start));
    totals.histories++;
    changes += result.read;
    if (result.wrong.length > 0) failed++;
  }
  console.log(`the followers of the feed have read ${changes} changes`);
  totals.failed += failed;
  await world.stop();
  return failed === 0;
}

function reportOf(
  seed: number,
  { faults, read, lists, wrong }: FeedResult,
  milliseconds: number,
): string {
  const seconds = (milliseconds / 1_000).toFixed(1);
  const head = `feed seed ${seed}: ${read} changes read after ${lists} lists in ${seconds} s; ${faults.join(', ')}`;
  return [`${wrong.length > 0 ? '✗' : '✓'} ${head}`, ...wrong.map((line) => `  ${line}`)].join(
    '\n',
  );
}
