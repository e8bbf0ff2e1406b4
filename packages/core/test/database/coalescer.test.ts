import { expect, it, onTestFinished, vi } from 'vitest';
import { outcomeUnknown } from '../../../src/plants/create-errors.ts';
import { CreateQueue } from '../../../src/plants/write/create-queue.ts';
import { PendingCreate } from '../../../src/plants/write/pending-create.ts';

/** A create whose deadline never comes. */
function pending(id: number, plant: { name?: string; tag?: string } = {}): PendingCreate {
  if (!vi.isFakeTimers()) vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const create = new PendingCreate({ id: BigInt(id), name: 'x', ...plant }, 1e9, () => {});
  create.outcome.catch(() => {});
  return create;
}

const idsOf = (creates: Iterable<PendingCreate>) => [...creates].map(({ plant }) => plant.id);

const million = 'x'.repeat(2 ** 20);

it('has its creates in order, and gives as many as fit into a statement', () => {
  const queue = new CreateQueue(2, 10);
  for (const id of [3, 1, 2]) queue.add(pending(id));
  expect(queue.size).toBe(3);
  expect(idsOf(queue)).toEqual([3n, 1n, 2n]);
  expect(idsOf(queue.take())).toEqual([3n, 1n]);
  expect(idsOf(queue.take())).toEqual([2n]);
  expect(queue.take()).toEqual([]);
  expect(queue.size).toBe(0);
});

it('is full from its greatest number of creates on', () => {
  const queue = new CreateQueue(2, 2);
  queue.add(pending(1));
  expect(queue.isFull).toBe(false);
  queue.add(pending(2));
  expect(queue.isFull).toBe(true);
  queue.take();
  expect(queue.isFull).toBe(false);
});

it('is full from 64 Mi characters of names and tags on', () => {
  const queue = new CreateQueue(1, 1_000);
  for (let id = 0; id < 63; id++) queue.add(pending(id, { name: million }));
  queue.add(pending(63, { name: 'x', tag: million.slice(2) }));
  expect(queue.isFull).toBe(false);
  queue.add(pending(64));
  expect(queue.isFull).toBe(true);
  queue.take();
  expect(queue.isFull).toBe(false);
});

it('gives creates up to the one whose text exceeds a million characters', () => {
  const queue = new CreateQueue(10, 10);
  queue.add(pending(1, { name: million.slice(1) }));
  queue.add(pending(2));
  queue.add(pending(3));
  expect(idsOf(queue.take())).toEqual([1n, 2n]);
});

it('counts the statements that it fills completely, by plants and by characters', () => {
  const queue = new CreateQueue(3, 10);
  const counts = [1, 2, 3, 4, 5, 6].map((id) => {
    queue.add(pending(id));
    return queue.fullStatements;
  });
  expect(counts).toEqual([0, 0, 1, 1, 1, 2]);
  queue.take();
  expect(queue.fullStatements).toBe(1);

  const long = new CreateQueue(100, 100);
  for (const id of [1, 2, 3]) long.add(pending(id, { name: million }));
  expect(long.fullStatements).toBe(3);
  long.take();
  expect(long.fullStatements).toBe(2);
});

it('drops the creates at its start that were answered at their deadline', () => {
  const queue = new CreateQueue(10, 10);
  const creates = [1, 2, 3, 4].map((id) => pending(id, { name: million }));
  for (const create of creates) queue.add(create);
  for (const at of [0, 1, 3]) creates[at]?.fail(outcomeUnknown());
  queue.dropAnswered();
  expect(idsOf(queue)).toEqual([3n, 4n]);
  expect(queue.fullStatements).toBe(2);
  creates[2]?.fail(outcomeUnknown());
  queue.dropAnswered();
  expect(queue.size).toBe(0);
  expect(queue.fullStatements).toBe(0);
});
