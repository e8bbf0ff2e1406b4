import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { reportOf } from './report.ts';
import { runHistory } from './run-history.ts';
import { type DatabaseName, scheduleOf } from './schedule.ts';
import { startWorld, type World } from './world.ts';

const help = `Tests whether the responses of the running server can be explained while faults happen.

  npx pnpm test:histories

  --seconds 60             how long to begin new histories
  --histories N            how many histories for each database, at most
  --database NAME          postgres or embedded; both unless given
  --seed N                 the seed of the first history of each database; the next ones follow
  --help                   shows this text`;

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    histories: { type: 'string', default: 'Infinity' },
    database: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    help: { type: 'boolean', default: false },
  },
});

/** Histories at the same time. Most of a history is a wait for a fault to end. */
const concurrency: Record<DatabaseName, number> = { postgres: 2, embedded: 1 };

const databases = (['postgres', 'embedded'] as const).filter(
  (name) => values.database === undefined || values.database === name,
);
const stopAt = performance.now() + 1_000 * Number(values.seconds);
const totals = { histories: 0, calls: 0, failed: 0 };

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

if (values.help || databases.length === 0) {
  console.log(help);
} else {
  const results = await Promise.all(databases.map(testDatabase));
  const { histories, calls, failed } = totals;
  console.log(`${histories} histories with ${calls} calls: ${failed} failed`);
  const numPassedTests = results.filter(Boolean).length;
  const counts = { numPassedTests, numFailedTests: results.length - numPassedTests };
  const result = { ...counts, numPendingTests: 0, numTodoTests: 0 };
  await writeFile('test-results.histories.json', JSON.stringify(result));
  process.exitCode = failed > 0 ? 1 : 0;
}

/** Runs histories until the time is over. Resolves with whether all of them can be explained. */
async function testDatabase(database: DatabaseName): Promise<boolean> {
  const first = Number(values.seed);
  let next = first;
  let isGood = true;

  const runSome = async () => {
    let world: World | undefined;
    while (performance.now() < stopAt && next - first < Number(values.histories)) {
      const seed = next++;
      const schedule = scheduleOf(database, seed, 1 + 1_000 * (seed - first));
      const isPromotion = schedule.faults.some(({ name }) => name === 'promoteStandby');
      if (isPromotion) await world?.stop();
      if (isPromotion || !world) world = await startWorld(database, isPromotion);
      const result = await runHistory(world, schedule);
      if (isPromotion) await world.stop();
      if (isPromotion) world = undefined;
      const failed = result.unexpected.length + result.unexplained.length > 0;
      isGood &&= !failed;
      totals.histories++;
      totals.calls += result.calls;
      totals.failed += failed ? 1 : 0;
      console.log(reportOf(database, seed, schedule, result));
    }
    await world?.stop();
  };
  await Promise.all(Array.from({ length: concurrency[database] }, runSome));
  return isGood;
}
