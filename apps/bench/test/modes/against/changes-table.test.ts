import { expect, it } from 'vitest';
import { changesTable, cheaperHalf } from '../../../src/modes/against/changes-table.ts';

const candidate = (version: 'before' | 'now', rounds: number[][]) => ({
  name: 'rest' as const,
  title: 'REST',
  version,
  rounds: rounds.map((costs) =>
    costs.map((serverCpu) => ({
      requestsPerSecond: 1000,
      serverCpu,
      databaseCpu: 20,
      memory: 2 ** 27,
    })),
  ),
  faults: [],
});

it('takes the mean of the cheaper half', () => {
  expect(cheaperHalf([900, 10, 12, 14, 800])).toBe(12);
  expect(cheaperHalf([900, 10, 12, 800])).toBe(11);
});

it('prints the CPU time of both commits, and the ratio in all rounds and in each', () => {
  const before = candidate('before', [
    [100, 100, 500],
    [100, 100, 900],
  ]);
  const now = candidate('now', [
    [80, 80, 600],
    [40, 40, 700],
  ]);
  expect(changesTable([before, now])).toMatch(
    /REST +100\.0 → 53\.3 +0\.533 +\(0\.800 0\.400\) +20\.0 → 20\.0 +1\.000 +1,000 → 1,000 +128 → 128/,
  );
});
