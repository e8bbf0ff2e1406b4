import { expect, it } from 'vitest';
import { readingGoals } from '../../src/modes/reading.ts';
import { verdict } from '../../src/report/goals.ts';
import { medians, speeds } from '../measured.ts';

/** Returns the verdicts for these speeds of our server. All other contenders share a fixed speed. */
const verdicts = (getSpeed: number, listSpeed: number) => {
  const given = speeds({ 'ours-rest, get': getSpeed, 'ours-rest, list': listSpeed });
  return readingGoals(medians(given)).map(verdict);
};

it('uses the speed of gets for the goals of get, and the speed of lists for the goals of list', () => {
  expect(verdicts(4000, 2000)).toEqual(['met', 'met', 'met', 'met', 'met']);
  expect(verdicts(1500, 900)).toEqual(['met', 'missed', 'met', 'missed', 'met']);
  expect(verdicts(1499, 899)).toEqual(['missed', 'missed', 'missed', 'missed', 'met']);
});

it('one goal limits the 99th percentile of gets during a full load of creates', () => {
  const p99Verdict = (noCreates: number, fullLoad: number) =>
    readingGoals(
      medians({
        'ours-rest, one get at a time, no creates': { p99: noCreates },
        'ours-rest, one get at a time, full load of creates': { p99: fullLoad },
      }),
    )
      .map(verdict)
      .at(-1);
  expect(p99Verdict(2, 10)).toBe('met');
  expect(p99Verdict(2, 11)).toBe('missed');
  expect(p99Verdict(0, 5)).toBe('met');
  expect(p99Verdict(0, 6)).toBe('missed');
});
