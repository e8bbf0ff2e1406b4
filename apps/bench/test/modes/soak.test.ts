import { expect, it } from 'vitest';
import { memoryGrowth } from '../../src/modes/soak.ts';

it('compares the memory in the last quarter with the memory in the second', () => {
  expect(memoryGrowth([50, 90, 100, 100, 100, 100, 100, 100])).toBe(1);
  expect(memoryGrowth([50, 90, 100, 100, 110, 120, 130, 140])).toBe(1.35);
});
