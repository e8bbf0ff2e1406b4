import { expect, it, onTestFinished, vi } from 'vitest';
import { type Caller, deadlineIn } from '../../../src/database/deadline.ts';
import { Turns } from '../../../src/database/queues/turns.ts';

/** Turns, and the names of those that have had one so far, in order. */
function createTurns(max: number, maxWaiting = 10) {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const turns = new Turns(max, maxWaiting);
  const taken: string[] = [];
  const take = (name: string, milliseconds = 1_000, caller?: Caller) =>
    turns.take({ deadline: deadlineIn(milliseconds), caller }).then(() => void taken.push(name));
  /** Waits until the promises have run their callbacks. */
  const settle = () => vi.advanceTimersByTimeAsync(0);
  return { turns, taken, take, settle };
}

it('gives all its turns at once, and gives returned turns to the others in order', async () => {
  const { turns, taken, take, settle } = createTurns(2);
  const all = ['a', 'b', 'c', 'd'].map((name) => take(name));
  await settle();
  expect(taken).toEqual(['a', 'b']);
  turns.give();
  await settle();
  expect(taken).toEqual(['a', 'b', 'c']);
  turns.give();
  await Promise.all(all);
  expect(taken).toEqual(['a', 'b', 'c', 'd']);
  for (let i = 0; i < 2; i++) turns.give();
  await Promise.all([take('e'), take('f')]);
  const late = expect(take('g')).rejects.toThrow('no connection was free in time');
  await vi.advanceTimersByTimeAsync(1_000);
  await late;
});

it('gives no turn to one that has waited until its deadline, and leaves no timer behind', async () => {
  const { turns, taken, take } = createTurns(1);
  await take('a');
  const late = expect(take('b', 50)).rejects.toThrow('no connection was free in time');
  const next = take('c');
  await vi.advanceTimersByTimeAsync(50);
  await late;
  turns.give();
  await next;
  expect(taken).toEqual(['a', 'c']);
  expect(vi.getTimerCount()).toBe(0);
});

it('says at the deadline that too many wait when the database has completed others meanwhile', async () => {
  const { turns, take } = createTurns(1);
  await take('a');
  const late = expect(take('b', 50)).rejects.toMatchObject({ kind: 'overloaded' });
  turns.completed++;
  await vi.advanceTimersByTimeAsync(50);
  await late;
});

it('rejects one at once when too many wait, unless the callers of others have disconnected', async () => {
  const { turns, taken, take } = createTurns(1, 2);
  const caller = { isGone: false };
  await take('a');
  const message = 'the caller has disconnected';
  const gone = expect(take('b', 1_000, caller)).rejects.toMatchObject({ message });
  const waiting = take('c');
  await expect(take('d')).rejects.toMatchObject({
    kind: 'overloaded',
    message:
      'too many such requests are waiting already: nothing was written, send the request again later',
  });
  caller.isGone = true;
  const next = take('e');
  await gone;
  for (const turn of [waiting, next]) {
    turns.give();
    await turn;
  }
  expect(taken).toEqual(['a', 'c', 'e']);
});

it('gives further turns at once after a resize', async () => {
  const { turns, taken, take } = createTurns(1);
  const all = ['a', 'b', 'c', 'd'].map((name) => take(name));
  turns.resize(2);
  await Promise.all(all.slice(0, 3));
  expect(taken).toEqual(['a', 'b', 'c']);
  turns.give();
  await all[3];
});

it('rejects all that wait, and gives their turns to others', async () => {
  const { turns, taken, take } = createTurns(1);
  await take('a');
  const error = new Error('the clocks have moved');
  const rejected = ['b', 'c'].map((name) => expect(take(name)).rejects.toBe(error));
  turns.rejectWaiting(error);
  await Promise.all(rejected);
  turns.give();
  await take('d');
  expect(taken).toEqual(['a', 'd']);
});
