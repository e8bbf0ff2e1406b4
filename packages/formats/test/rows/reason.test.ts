import { expect, it } from 'vitest';
import { reasonOf } from '../../src/rows/reason.ts';

const columns = {
  id: { name: 'id', kind: 'int64', isOptional: false },
  name: { name: 'name', kind: 'text', isOptional: false },
  price: { name: 'price', kind: 'number', isOptional: true },
  createdAt: { name: 'created_at', kind: 'time', isOptional: false },
} as const;

it.each([
  ['invalid input: id must be', 'invalid input: id "2" must be'],
  ['invalid input: name must be', 'invalid input: name must be'],
  ['invalid input: name must; createdAt must', 'invalid input: name must; created_at "x" must'],
  ['invalid input: price must be', 'invalid input: price "much" must be'],
  ['invalid input: the id must be', 'invalid input: the id must be'],
])('adds the invalid values of a file to the message %j', (message, reason) => {
  const plant = { id: '2', name: 5, price: 'much', createdAt: 'x' };
  expect(reasonOf(message, plant, columns)).toBe(reason);
});

it('does not add NaN, which replaces a rounded fraction, to the message', () => {
  const message = 'invalid input: id must be an integer';
  expect(reasonOf(message, { id: Number.NaN }, columns)).toBe(message);
});

it('does not change the message for a missing value, or for a plant that is not an object', () => {
  const message = 'invalid input: id is missing: it must be an integer';
  expect(reasonOf(message, {})).toBe(message);
  expect(reasonOf('invalid input: id must', null)).toBe('invalid input: id must');
});
