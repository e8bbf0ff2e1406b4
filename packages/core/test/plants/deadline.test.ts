import { expect, it, onTestFinished, vi } from 'vitest';
import { timeLeft } from '../../src/database/deadline.ts';

it('leaves a call five seconds, or the time until its deadline', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  vi.advanceTimersByTime(1_000);
  const now = performance.now();
  expect([timeLeft(), timeLeft({}), timeLeft({ deadline: undefined })]).toEqual([5e3, 5e3, 5e3]);
  expect(timeLeft({ deadline: now + 700 })).toBe(700);
  expect(timeLeft({ deadline: now - 1 })).toBe(0);
});
