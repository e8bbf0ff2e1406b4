import { expect, it } from 'vitest';
import { cheaperHalf, median } from '../../src/measurements/statistics.ts';

it('takes the median', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2.5);
  expect(median([])).toBeNaN();
});

it('takes the mean of the lower half of the values', () => {
  expect(cheaperHalf([900, 10, 12, 14, 800])).toBe(12);
  expect(cheaperHalf([900, 10, 12, 800])).toBe(11);
});
