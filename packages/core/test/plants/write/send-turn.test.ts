import { setTimeout } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { SendTurn } from '../../../src/plants/write/send-turn.ts';

/**
 * A turn whose statements have taken so many milliseconds, in a process that always had other work, and
 * two queues that record when they are asked.
 */
function turnAfter(durations: readonly number[]) {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let idleTime = 0;
  const turn = new SendTurn(() => idleTime);
  for (const duration of durations) {
    const statement = {};
    turn.sent(() => {}, statement);
    vi.advanceTimersByTime(duration);
    turn.ended(statement, { creates: 1, duration });
  }
  const asked: string[] = [];
  const [first, second] = ['first', 'second'].map((name) => () => void asked.push(name)) as [
    () => void,
    () => void,
  ]; // One for each name.
  turn.join(first);
  turn.join(second);
  /** Ends statements of three creates, in each of which the process is idle for a while. */
  const endIdleStatements = ({ duration = 50, idle = 40 } = {}) => {
    for (let i = 0; i < 50; i++) {
      const statement = {};
      turn.sent(first, statement);
      idleTime += idle;
      turn.ended(statement, { creates: 3, duration });
    }
  };
  return { turn, first, second, asked, endIdleStatements };
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
  turn.ended(statement, { creates: 1, duration: 50 });
  expect(turn.isTaken).toBe(false);
});

it('asks the queue first that has waited longest', () => {
  const { turn, first, second, asked } = turnAfter(busy);
  const statements = [{}, {}] as const;
  turn.sent(first, statements[0]);
  turn.ended(statements[0], { creates: 1, duration: 50 });
  expect(asked.splice(0)).toEqual(['second', 'first']);
  turn.sent(second, statements[1]);
  turn.ended(statements[1], { creates: 1, duration: 50 });
  expect(asked).toEqual(['first', 'second']);
});

it('forgets the shortest statement of long ago', () => {
  const { turn, first } = turnAfter([5, ...Array.from({ length: 1_000 }, () => 50)]);
  turn.sent(first, {});
  expect(turn.isTaken).toBe(false);
});

it('pauses after a statement until as many creates have arrived as it had', () => {
  const { turn, asked, endIdleStatements } = turnAfter(busy);
  endIdleStatements();
  expect(turn.isTaken).toBe(true);
  asked.splice(0);
  turn.arrived();
  turn.arrived();
  expect([turn.isTaken, asked]).toEqual([true, []]);
  turn.arrived();
  expect([turn.isTaken, asked]).toEqual([false, ['second', 'first']]);
  expect(vi.getTimerCount()).toBe(0);
});

it('pauses no longer than the process is idle during a statement', () => {
  const { turn, asked, endIdleStatements } = turnAfter(busy);
  endIdleStatements();
  turn.arrived();
  asked.splice(0);
  vi.advanceTimersByTime(38);
  expect([turn.isTaken, asked]).toEqual([true, []]);
  vi.advanceTimersByTime(2);
  expect([turn.isTaken, asked]).toEqual([false, ['second', 'first']]);
});

it('does not pause while a statement of another queue runs', () => {
  const { turn, second, endIdleStatements } = turnAfter(busy);
  const running = {};
  turn.sent(second, running);
  endIdleStatements();
  expect(vi.getTimerCount()).toBe(0);
  turn.ended(running, { creates: 1, duration: 50 });
  expect(vi.getTimerCount()).toBe(1);
});

it.each([
  { when: 'the database is not busy', duration: 5, idle: 5 },
  { when: 'the process has other work', duration: 50, idle: 15 },
])('does not pause while $when', ({ duration, idle }) => {
  const { turn, endIdleStatements } = turnAfter(steady);
  endIdleStatements({ duration, idle });
  expect(turn.isTaken).toBe(false);
});

it('pauses in an idle process by the clock of its event loop', async () => {
  const turn = new SendTurn();
  const send = () => {};
  await vi.waitFor(async () => {
    for (const duration of [0.1, 5]) {
      const statement = {};
      turn.sent(send, statement);
      await setTimeout(5); // The process is idle.
      turn.ended(statement, { creates: 1, duration });
    }
    expect(turn.isTaken).toBe(true);
  });
});

it('is not busy because of one slow statement', () => {
  const { turn, first } = turnAfter([...steady, 4_000]);
  turn.sent(first, {});
  expect(turn.isTaken).toBe(false);
});
