import { expect, it } from 'vitest';
import type { SeenChange } from './copy.ts';
import { type Journal, wrongChanges } from './journal.ts';

const created = (name: string): SeenChange => ({ type: 'created', id: 1n, name });
const deleted = (name: string): SeenChange => ({ type: 'deleted', id: 1n, name });

const journal: Journal = new Map(
  ['created 1 a', 'deleted 1 a', 'created 1 b', 'deleted 1 b'].map((change, i) => [change, i]),
);

it.each([
  ['all changes', [created('a'), deleted('a'), created('b'), deleted('b')]],
  ['a plant that was created and deleted before a read', [created('a'), deleted('b')]],
  ['a plant that was replaced before a read', [created('a'), created('b')]],
])('accepts %s', (_, changes) => {
  expect(wrongChanges(journal, changes)).toEqual([]);
});

it.each([
  ['a change that comes twice', [created('a'), created('a')], 'out of order: 1 created a (0)'],
  ['an earlier delete', [created('b'), deleted('a')], 'out of order: 1 created b (2)'],
  ['a plant that was rolled back', [created('c')], 'nobody committed: created 1 c'],
])('finds %s', (_, changes, message) => {
  expect(wrongChanges(journal, changes)).toEqual([expect.stringContaining(message)]);
});
