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
  const p99 = (slow: number) =>
    medians({ 'ours-rest, one get at a time, full load of creates': { p99: slow } });
  expect(verdict(readingGoals(p99(10))[4] ?? expect.fail())).toBe('met');
  expect(verdict(readingGoals(p99(11))[4] ?? expect.fail())).toBe('missed');
});
