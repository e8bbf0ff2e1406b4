import { expect, it, onTestFinished, vi } from 'vitest';
import { Coalescer } from '../../core/src/group-commit/coalescer.ts';
import { PlantStoreError } from '../../core/src/plant-store-error.ts';
import { NodeTurns } from '../src/lanes/node-turns.ts';

/** Makes turns that have seen statements of these durations, in milliseconds. */
function turnsAfter(...durations: readonly number[]) {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const turns = new NodeTurns();
  for (const duration of durations) turns.ended(duration);
  return turns;
}

const many = (duration: number) => Array.from({ length: 20 }, () => duration);

it('lets several lanes send statements in parallel while statements are fast', () => {
  const turns = turnsAfter(...many(5));
  turns.take();
  expect(turns.mustWait(() => {})).toBe(false);
});

it('makes lanes wait for the running statement when statements have become slow', () => {
  const turns = turnsAfter(5, ...many(50));
  const asked: string[] = [];
  const [first, second] = [() => void asked.push('first'), () => void asked.push('second')];
  expect(turns.mustWait(first)).toBe(false);
  const endTurn = turns.take();
  for (const send of [first, second, first]) expect(turns.mustWait(send)).toBe(true);
  endTurn();
  endTurn(); // A second call has no effect.
  expect(asked).toEqual(['first', 'second']);
  expect(turns.mustWait(first)).toBe(false);
});

it('makes lanes wait until all running statements have ended', () => {
  const turns = turnsAfter(5, ...many(50));
  const [endOne, endOther] = [turns.take(), turns.take()];
  endOne();
  expect(turns.mustWait(() => {})).toBe(true);
  endOther();
  expect(turns.mustWait(() => {})).toBe(false);
});

it('no longer regards the database as busy after two periods without a short statement', () => {
  const turns = turnsAfter(5, ...many(50));
  turns.take();
  for (let i = 0; i < 2; i++) {
    vi.advanceTimersByTime(10_001);
    turns.ended(50);
  }
  expect(turns.mustWait(() => {})).toBe(false);
});

/** Makes a lane whose statements take `milliseconds`. The lane adds each statement's size to `sent`. */
function createLane(node: string, turn: NodeTurns, sent: string[], milliseconds: number) {
  return new Coalescer<number, void>({
    async send(calls) {
      sent.push(`${node}: ${calls.length}`);
      await new Promise((resolve) => setTimeout(resolve, milliseconds));
      for (const call of calls) call.resolve();
    },
    late: () => new PlantStoreError('databaseUnavailable', 'late'),
    overloaded: (waiting) => new PlantStoreError('overloaded', `${waiting} wait`),
    maxInFlight: 1,
    maxBatch: 3,
    turn,
  });
}

it('makes the lanes of two nodes send one after the other, but sends a full statement immediately', async () => {
  const turn = turnsAfter(5, ...many(50));
  const sent: string[] = [];
  const lane = (node: string) => createLane(node, turn, sent, 20);
  const [one, other, full] = [lane('one'), lane('other'), lane('full')];
  const creates = [one.run(1), other.run(2), other.run(3)];
  expect(sent).toEqual(['one: 1']);
  creates.push(...[4, 5, 6].map((create) => full.run(create)));
  expect(sent).toEqual(['one: 1', 'full: 3']);
  await vi.advanceTimersByTimeAsync(20);
  expect(sent).toEqual(['one: 1', 'full: 3', 'other: 2']);
  await vi.advanceTimersByTimeAsync(20);
  await Promise.all(creates);
});

it('lets a lane send a statement when the statement of another lane takes longer than 50 ms', async () => {
  const turn = turnsAfter(5, ...many(50));
  const sent: string[] = [];
  const creates = ['slow', 'other'].map((node) => createLane(node, turn, sent, 200).run(1));
  await vi.advanceTimersByTimeAsync(49);
  expect(sent).toEqual(['slow: 1']);
  await vi.advanceTimersByTimeAsync(1);
  expect(sent).toEqual(['slow: 1', 'other: 1']);
  await vi.advanceTimersByTimeAsync(200);
  await Promise.all(creates);
});

it('regards the database as busy when the statements of a lane have become slow', async () => {
  const turn = turnsAfter(5);
  const lane = createLane('busy', turn, [], 50);
  for (const create of many(50)) {
    const created = lane.run(create);
    await vi.advanceTimersByTimeAsync(50);
    await created;
  }
  turn.take();
  expect(turn.mustWait(() => {})).toBe(true);
});
