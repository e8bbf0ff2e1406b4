import { contenders } from '../src/contenders/contenders.ts';
import type { LoadFigures } from '../src/measurements/load-case.ts';
import type { Result } from '../src/measurements/run-plan.ts';

/** The figures of a load. A request costs 100 µs in the server and 100 µs in Postgres. */
const figures: LoadFigures = {
  requestsPerSecond: 1000,
  plantsPerSecond: 1000,
  p50: 1,
  p99: 2,
  serverCpu: 100,
  databaseCpu: 100,
  totalCpu: 200,
  coordinatorCpu: 100,
  busiestCpu: 100,
  processes: 1,
  feedP99: Number.NaN,
  megabytes: 128,
};

export function resultOf(
  name: string,
  title: string,
  ...rounds: Partial<LoadFigures>[][]
): Result<LoadFigures> {
  const turns = rounds.map((round) => round.map((turn) => ({ ...figures, ...turn })));
  return { name, title, rounds: turns, faults: [] };
}

/** Returns a function that finds a given figure, or otherwise the default in `figures`. */
export function medians(given: Record<string, Partial<LoadFigures>> = {}) {
  return (name: string, figure: keyof LoadFigures) => ({ ...figures, ...given[name] })[figure];
}

/** Makes load figures from requests per second. A batch request contains several plants. */
export function speeds(given: Record<string, number>): Record<string, Partial<LoadFigures>> {
  const plantsOf = (name: string) =>
    contenders.find((contender) => contender.name === name)?.server?.format.plants ?? 1;
  return Object.fromEntries(
    Object.entries(given).map(([name, requestsPerSecond]) => [
      name,
      { requestsPerSecond, plantsPerSecond: requestsPerSecond * plantsOf(name) },
    ]),
  );
}
