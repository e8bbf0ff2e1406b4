import { contenders } from '../src/contenders/contenders.ts';
import type { Measurement } from '../src/measurements/measure.ts';
import { summarize } from '../src/measurements/summary.ts';

/** A measurement without errors and lost plants. */
export const measurement: Measurement = {
  idOrder: 'int64',
  requestsPerSecond: 1000,
  plantsPerSecond: 1000,
  p50: 1,
  p99: 2,
  errors: 0,
  acknowledged: 5000,
  rows: 5010,
  unanswered: 64,
};

/**
 * Summaries of all contenders, by default with 1000 requests per second and 100 µs of CPU time for
 * each request, both of the server and of Postgres.
 */
export function measuredSummaries(
  speeds: Record<string, number> = {},
  cpuTimes: Record<string, number> = {},
) {
  return contenders.map((contender) => {
    const cpuPerRequest = cpuTimes[contender.name] ?? 100;
    const speed = speeds[contender.name] ?? 1000;
    const plants = contender.server?.format.plants ?? 1;
    return summarize(contender, [
      {
        ...measurement,
        requestsPerSecond: speed,
        plantsPerSecond: speed * plants,
        cpuPerRequest,
        databaseCpuPerRequest: cpuPerRequest,
        totalCpuPerRequest: 2 * cpuPerRequest,
      },
    ]);
  });
}
