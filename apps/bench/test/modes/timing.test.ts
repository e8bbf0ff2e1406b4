import { expect, it } from 'vitest';
import { welchT, withoutSlowest } from '../../src/modes/timing.ts';

it('compares two samples by the t-test of Welch', () => {
  // Means 2 and 4, variances 1 and 4: -2 / sqrt(1 / 3 + 4 / 3).
  expect(welchT([1, 2, 3], [2, 4, 6])).toBeCloseTo(-1.549, 3);
  expect(welchT([2, 4, 6], [1, 2, 3])).toBeCloseTo(1.549, 3);
  expect(welchT([1, 2, 3, 4], [1, 2, 3, 4])).toBe(0);
});

it('leaves out the slowest tenth of both samples together', () => {
  const times = Array.from({ length: 50 }, (_, i) => i);
  const [fast, slow] = withoutSlowest(
    times,
    times.map((time) => time + 50),
  );
  expect([fast.length, slow.length]).toEqual([50, 40]);
});
