import { contenders } from '../src/contenders/contenders.ts';
import type { Measurement } from '../src/measurements/measure.ts';
import { summarize } from '../src/measurements/summary.ts';

/** A measurement without errors and lost plants. */
export const measurement: Measurement = {
  requestsPerSecond: 1000,
  plantsPerSecond: 1000,
  p50: 1,
  p99: 2,
  errors: 0,
  acknowledged: 5000,
  rows: 5010,
  unanswered: 64,
};

/** Summaries of all contenders, by default with 1000 requests per second. */
export function measuredSummaries(speeds: Record<string, number> = {}) {
  return contenders.map((contender) => {
    const speed = speeds[contender.name] ?? 1000;
    const plants = contender.server?.format.plants ?? 1;
    return summarize(contender, [
      { ...measurement, requestsPerSecond: speed, plantsPerSecond: speed * plants },
    ]);
  });
}
