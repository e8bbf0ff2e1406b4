import { expect, it, onTestFinished, vi } from 'vitest';
import { SendTurn } from '../../../src/plants/write/send-turn.ts';

/** A turn whose statements have taken so many milliseconds, and two queues that record when they are asked. */
function turnAfter(durations: readonly number[]) {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const turn = new SendTurn();
  for (const duration of durations) {
    const statement = {};
    turn.sent(() => {}, statement);
    vi.advanceTimersByTime(duration);
    turn.ended(statement, duration);
  }
  const asked: string[] = [];
  const [first, second] = ['first', 'second'].map((name) => () => void asked.push(name)) as [
    () => void,
    () => void,
  ]; // One for each name.
  turn.join(first);
  turn.join(second);
  return { turn, first, second, asked };
}

const steady = Array.from({ length: 20 }, () => 5);
const busy = [5, ...Array.from({ length: 20 }, () => 50)];

it('takes no turns while statements take about as long as the shortest one', () => {
  const { turn, first } = turnAfter(steady);
  turn.sent(first, {});
  expect(turn.isTaken).toBe(false);
});

it('is taken by a statement while all take much longer, until it has ended or is slow', () => {
  const { turn, first, asked } = turnAfter(busy);
  expect(turn.isTaken).toBe(false);
  const [statement, slow] = [{}, {}];
  turn.sent(first, statement);
  turn.sent(first, slow);
  expect(turn.isTaken).toBe(true);
  turn.isSlow(slow);
  expect(asked).toEqual(['second', 'first']);
  expect(turn.isTaken).toBe(true);
  turn.ended(statement, 50);
  expect(turn.isTaken).toBe(false);
});

it('asks the queue first that has waited longest', () => {
  const { turn, first, second, asked } = turnAfter(busy);
  const statements = [{}, {}] as const;
  turn.sent(first, statements[0]);
  turn.ended(statements[0], 50);
  expect(asked.splice(0)).toEqual(['second', 'first']);
  turn.sent(second, statements[1]);
  turn.ended(statements[1], 50);
  expect(asked).toEqual(['first', 'second']);
});

it('forgets the shortest statement of long ago', () => {
  const { turn, first } = turnAfter([5, ...Array.from({ length: 1_000 }, () => 50)]);
  turn.sent(first, {});
  expect(turn.isTaken).toBe(false);
});
