import { reportOf } from './report.ts';
import { runHistory } from './run-history.ts';
import { type DatabaseName, type FaultName, scheduleOf } from './schedule.ts';
import type { Suite } from './suite.ts';
import { startWorld, type World } from './world.ts';

/** Tests whether an order of the calls explains the responses of the store. */
export function testResponses(
  database: DatabaseName,
  { fault, seed: firstSeed }: { fault: FaultName | undefined; seed: number },
): Suite<World> {
  const scheduleFor = (seed: number) =>
    scheduleOf(database, seed, { fault, firstId: 1 + 1_000 * (seed - firstSeed) });
  return {
    concurrency: database === 'postgres' ? 2 : 1,
    start: (hasStandby) => startWorld(database, hasStandby),
    needsStandby: (seed) => scheduleFor(seed).faults.some(({ name }) => name === 'promoteStandby'),
    async run(world, seed) {
      const schedule = scheduleFor(seed);
      const result = await runHistory(world, schedule);
      const isGood = result.unexpected.length + result.unexplained.length === 0;
      return { report: reportOf(database, seed, schedule, result), isGood, calls: result.calls };
    },
  };
}
