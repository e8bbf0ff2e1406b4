import { expect, it } from 'vitest';
import { oursRest } from '../../src/contenders/contenders.ts';
import type { Measurement } from '../../src/measurements/measure.ts';
import { median, summarize } from '../../src/measurements/summary.ts';
import { measurement } from '../measured-summaries.ts';

const faults = (changes: Partial<Measurement>) =>
  summarize(oursRest, [measurement, { ...measurement, ...changes }]).faults;

it('takes the median of the rounds', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2.5);
  expect(median([])).toBeUndefined();
});

it('accepts plants whose reply was pending when the load ended', () => {
  expect(faults({ rows: 5000 })).toEqual([]);
  expect(faults({ rows: 5064 })).toEqual([]);
});

it('reports lost plants, plants that nobody sent, and errors', () => {
  expect(faults({ rows: 4999 })).toEqual(['1 plants answered with 200 are not in the table']);
  expect(faults({ rows: 5065 })).toEqual(['1 plants in the table that nobody sent']);
  expect(faults({ errors: 3 })).toEqual(['3 errors']);
});
