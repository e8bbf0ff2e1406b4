import { expect, it } from 'vitest';
import { atLeast, atMost, goalsTable, verdict } from '../../src/report/goals.ts';

it('meets a goal at its bound, and misses the goal when the value is worse', () => {
  expect(verdict(atLeast(4, '', 4))).toBe('met');
  expect(verdict(atLeast(4, '', 3.99))).toBe('missed');
  expect(verdict(atMost(1, '', 1))).toBe('met');
  expect(verdict(atMost(1, '', 1.01))).toBe('missed');
});

it('says that a goal is not measured when its value is missing', () => {
  expect(verdict(atLeast(4, '', Number.NaN))).toBe('not measured');
});

it('prints the bound, the measured value and the verdict', () => {
  expect(goalsTable([atLeast(4, 'ours ÷ theirs', 1)])).toMatch(
    /ours ÷ theirs +at least 4 +1\.00 +missed/,
  );
});
