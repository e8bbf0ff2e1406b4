import { writeFile } from 'node:fs/promises';
import { testFeed } from './feed/test-feed.ts';
import { readOptions } from './options.ts';
import type { Suite } from './suite.ts';
import { testResponses } from './test-responses.ts';

const options = readOptions();
const stopAt = performance.now() + 1_000 * options.seconds;
const totals = { histories: 0, calls: 0, changes: 0, failed: 0 };

// When this process exits, its exit handlers kill the servers.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const tests = {
  responses: () => options.databases.map((database) => runSuite(testResponses(database, options))),
  feed: () => [runSuite(testFeed)],
};
const results = await Promise.all(options.subjects.flatMap((subject) => tests[subject]()));
const { histories, calls, changes, failed } = totals;
console.log(`${histories} histories with ${calls} calls and ${changes} changes: ${failed} failed`);
const numPassedTests = results.filter(Boolean).length;
const counts = { numPassedTests, numFailedTests: results.length - numPassedTests };
const summary = { ...counts, testResults: [] };
await writeFile('test-results.histories.json', JSON.stringify(summary));
process.exitCode = failed > 0 ? 1 : 0;

/** Runs histories until the time is over. Resolves with true when all histories are good. */
async function runSuite<World extends { stop(): Promise<void> }>(
  suite: Suite<World>,
): Promise<boolean> {
  let next = options.seed;
  let isGood = true;
  const isOver = () => performance.now() >= stopAt || next - options.seed >= options.histories;

  const runSome = async () => {
    let common: World | undefined;
    while (!isOver()) {
      const seed = next++;
      const hasOwn = suite.needsStandby(seed);
      const world = (hasOwn ? undefined : common) ?? (await suite.start(hasOwn));
      const outcome = await suite.run(world, seed);
      if (hasOwn) await world.stop();
      else common = world;
      console.log(`${outcome.isGood ? '✓' : '✗'} ${outcome.report}`);
      isGood &&= outcome.isGood;
      totals.histories++;
      totals.calls += outcome.calls ?? 0;
      totals.changes += outcome.changes ?? 0;
      totals.failed += outcome.isGood ? 0 : 1;
    }
    await common?.stop();
  };
  await Promise.all(Array.from({ length: suite.concurrency }, runSome));
  return isGood;
}
