import { expect, it } from 'vitest';
import { hasSettled, warmUp } from '../../src/measurements/warm-up.ts';

/** Runs a warm-up whose parts cost these CPU seconds; the last cost repeats. Returns the parts. */
async function partsOf(longest: number, costs: readonly number[]) {
  const parts: number[] = [];
  let cpuSeconds = 0;
  const results = await warmUp(longest, {
    send: async (seconds) => {
      cpuSeconds += costs[Math.min(parts.length, costs.length - 1)] ?? Number.NaN;
      parts.push(seconds);
      return { replies: 1000, errors: 0, seconds, p50: 1, p99: 2 };
    },
    cpuSeconds: async () => (costs.length === 0 ? undefined : cpuSeconds),
  });
  expect(results.length).toBe(parts.length);
  return parts;
}

it('ends the warm-up when the CPU time for a reply no longer falls', async () => {
  expect(await partsOf(60, [9, 8, 7, 6, 5])).toEqual(Array(8).fill(2));
  expect(await partsOf(60, [5])).toEqual(Array(4).fill(2));
});

it('ends the warm-up after its longest time', async () => {
  expect(await partsOf(6, [9, 8, 7, 6, 5])).toEqual([2, 2, 2]);
  expect(await partsOf(1, [9])).toEqual([1]);
});

it('warms up for the longest time where no CPU times are known', async () => {
  expect(await partsOf(12, [])).toEqual(Array(6).fill(2));
});

it('waits for three costs that are no more than 2 % lower', () => {
  expect(hasSettled([10, 10, 10])).toBe(false);
  expect(hasSettled([10, 12, 9.9, 9.8])).toBe(true);
  expect(hasSettled([10, 12, 9.9, 9.7])).toBe(false);
});
