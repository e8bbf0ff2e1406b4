import { writeFile } from 'node:fs/promises';
import { testFeed } from './feed/test-feed.ts';
import { readOptions } from './options.ts';
import { reportOf } from './report.ts';
import { runHistory } from './run-history.ts';
import { type DatabaseName, type Schedule, scheduleOf } from './schedule.ts';
import { startWorld, type World } from './world.ts';

/** The number of concurrent histories. A history spends most of its time waiting for the end of a fault. */
const concurrency: Record<DatabaseName, number> = { postgres: 2, embedded: 1 };

const options = readOptions();
const stopAt = performance.now() + 1_000 * options.seconds;
const isOver = (histories: number) => performance.now() >= stopAt || histories >= options.histories;
const totals = { histories: 0, calls: 0, failed: 0 };

// When this process exits, its exit handlers kill the servers.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const tests = {
  responses: () => options.databases.map(testDatabase),
  feed: () => [testFeed(options.feedDatabase, options.seed, isOver, totals)],
};
const results = await Promise.all(options.subjects.flatMap((subject) => tests[subject]()));
const { histories, calls, failed } = totals;
console.log(`${histories} histories with ${calls} calls: ${failed} failed`);
const numPassedTests = results.filter(Boolean).length;
const counts = { numPassedTests, numFailedTests: results.length - numPassedTests };
const summary = { ...counts, testResults: [] };
await writeFile('test-results.histories.json', JSON.stringify(summary));
process.exitCode = failed > 0 ? 1 : 0;

/** Runs histories until the time is over. Resolves with true when all histories can be explained. */
async function testDatabase(database: DatabaseName): Promise<boolean> {
  let next = options.seed;
  let isGood = true;

  const runSome = async () => {
    let world: World | undefined;
    while (!isOver(next - options.seed)) {
      const seed = next++;
      const firstId = 1 + 1_000 * (seed - options.seed);
      const schedule = scheduleOf(database, seed, { fault: options.fault, firstId });
      const isPromotion = needsStandby(schedule);
      if (isPromotion) {
        await world?.stop();
        world = undefined;
      }
      world ??= await startWorld(database, isPromotion);
      const result = await runHistory(world, schedule);
      console.log(reportOf(database, seed, schedule, result));
      const isExplained = result.unexpected.length + result.unexplained.length === 0;
      isGood &&= isExplained;
      totals.histories++;
      totals.calls += result.calls;
      totals.failed += isExplained ? 0 : 1;
      if (isPromotion) {
        await world.stop();
        world = undefined;
      }
    }
    await world?.stop();
  };
  await Promise.all(Array.from({ length: concurrency[database] }, runSome));
  return isGood;
}

/** Only one history can promote the standby of a world. */
function needsStandby({ faults }: Schedule): boolean {
  return faults.some(({ name }) => name === 'promoteStandby');
}
