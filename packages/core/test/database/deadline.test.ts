import { expect, it, onTestFinished, vi } from 'vitest';
import {
  beforeDeadline,
  deadlineIn,
  deadlineOf,
  timeText,
  withTimeout,
} from '../../src/database/deadline.ts';

function stopClocks(): void {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  vi.advanceTimersByTime(1_000);
}

const silence = new Promise(() => {});

it('sets a deadline in five seconds for a call without a deadline', () => {
  stopClocks();
  const inFiveSeconds = performance.now() + 5_000;
  const calls = [undefined, {}, { deadline: undefined }];
  expect(calls.map(deadlineOf)).toEqual(calls.map(() => inFiveSeconds));
  const deadline = deadlineIn(700);
  expect(deadline).toBe(performance.now() + 700);
  expect(deadlineOf({ deadline })).toBe(deadline);
});

it('throws an error immediately when the deadline has passed, and causes no warning of Node', async () => {
  const warn = vi.spyOn(process, 'emitWarning').mockReturnValue();
  onTestFinished(() => warn.mockRestore());
  await expect(beforeDeadline(silence, performance.now() - 1)).rejects.toThrow('no response');
  expect(warn).not.toHaveBeenCalled();
});

// A timer of Node waits at most 2^31 - 1 milliseconds. A longer timer would fire immediately.
it.each([2 ** 31, Number.POSITIVE_INFINITY])('waits for %d milliseconds', async (milliseconds) => {
  stopClocks();
  const value = Promise.withResolvers<string>();
  const waiting = withTimeout(value.promise, milliseconds);
  await vi.advanceTimersByTimeAsync(2 ** 31 - 2);
  value.resolve('row');
  expect(await waiting).toBe('row');
});

it('writes a time in the format of Postgres', () => {
  expect(timeText(Date.parse('2026-11-22T09:30:00.125Z'))).toBe('2026-11-22T09:30:00.125Z');
  expect(timeText(Number.POSITIVE_INFINITY)).toBe('9999-12-31T00:00:00.000Z');
});
