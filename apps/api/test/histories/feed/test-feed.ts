import type { Suite } from '../suite.ts';
import type { FeedWorld } from './feed-world.ts';
import { runFeedHistory } from './run-feed-history.ts';
import { startFeedWorld } from './start-feed-world.ts';

/** Tests whether every follower of the feed has got exactly the plants of the store. */
export const testFeed: Suite<FeedWorld> = {
  concurrency: 1,
  start: startFeedWorld,
  needsStandby: (seed) => seed % 10 === 9,
  async run(world, seed) {
    const startedAt = performance.now();
    const { faults, read, lists, wrong } = await runFeedHistory(world, seed);
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
    const head = `feed seed ${seed}: ${read} changes read after ${lists} lists in ${seconds} s; ${faults.join(', ')}`;
    const report = [head, ...wrong.map((line) => `  ${line}`)].join('\n');
    return { report, isGood: wrong.length === 0, changes: read };
  },
};
