import { describe, expect, it } from 'vitest';
import { type Action, isExplainable, type Operation, unexplainedPart } from './checker.ts';

type Result = 'done' | 'rejected' | 'unknown';
const change =
  (type: 'create' | 'replace', result: Result) =>
  (content: string): Action => ({ type, content, result });
const create = change('create', 'done');
const taken = change('create', 'rejected');
const lostCreate = change('create', 'unknown');
const replaced = change('replace', 'done');
const notReplaced = change('replace', 'rejected');
const lostReplace = change('replace', 'unknown');
const deleted: Action = { type: 'delete', result: 'done' };
const absent: Action = { type: 'delete', result: 'rejected' };
const lostDelete: Action = { type: 'delete', result: 'unknown' };
const read = (state: string | null): Action => ({ type: 'read', state });

type Line = readonly [start: number, end: number, action: Action];

const operationsOf = (lines: readonly Line[]): Operation[] =>
  lines.map(([start, end, action]) => {
    const isCertain = action.type === 'read' || action.result !== 'unknown';
    return { start, end, action, isCertain };
  });

const good: Record<string, Line[]> = {
  'no operation': [],
  'operations one after another': [
    [0, 1, read(null)],
    [2, 3, create('x')],
    [4, 5, create('x')],
    [6, 7, taken('y')],
    [8, 9, deleted],
    [10, 11, absent],
    [12, 13, create('y')],
    [14, 15, read('y')],
  ],
  'a read that sees a create before its response': [
    [0, 10, create('x')],
    [1, 2, read(null)],
    [3, 4, read('x')],
  ],
  'two concurrent creates, of which the later one succeeds': [
    [0, 10, taken('x')],
    [1, 9, create('y')],
  ],
  'a create without a response that has no effect': [
    [0, 6, lostCreate('x')],
    [7, 8, read(null)],
  ],
  'a create without a response that has an effect': [
    [0, 6, lostCreate('x')],
    [7, 8, read('x')],
  ],
  'replacements of a missing and of an existing plant': [
    [0, 1, notReplaced('x')],
    [2, 3, create('x')],
    [4, 5, replaced('y')],
    [6, 7, read('y')],
    [8, 9, taken('x')],
  ],
  'reads before and after the effect of a replacement without a response': [
    [0, 1, create('x')],
    [2, 8, lostReplace('y')],
    [3, 4, read('x')],
    [5, 6, read('y')],
  ],
  'a delete without a response that takes effect before its end': [
    [0, 1, create('x')],
    [2, 8, lostDelete],
    [3, 4, read('x')],
    [5, 7, create('y')],
  ],
};

const bad: Record<string, Line[]> = {
  'an acknowledged plant that is gone': [
    [0, 1, create('x')],
    [2, 3, read(null)],
  ],
  'a delete without a response that takes effect after its end': [
    [0, 1, create('x')],
    [2, 8, lostDelete],
    [9, 10, deleted],
    [11, 12, create('y')],
    [13, 14, read(null)],
  ],
  'a create that is applied twice': [
    [0, 9, create('x')],
    [1, 2, read('x')],
    [3, 4, deleted],
    [5, 6, read(null)],
    [10, 11, read('x')],
  ],
  'a replacement that creates a plant': [
    [0, 4, lostReplace('x')],
    [5, 6, read('x')],
  ],
  'a create that undoes a replacement': [
    [0, 1, create('x')],
    [2, 3, replaced('y')],
    [4, 5, create('x')],
  ],
  'a plant that two deletes remove': [
    [0, 1, create('x')],
    [2, 5, deleted],
    [3, 6, deleted],
  ],
  'reads that see two plants in turn': [
    [0, 9, create('x')],
    [0, 9, lostCreate('y')],
    [1, 2, read('x')],
    [3, 4, read('y')],
    [5, 6, read('x')],
  ],
  'a rejected create without a plant that has the id': [[0, 1, taken('x')]],
};

describe('the checker', () => {
  it.each(Object.entries(good))('finds an order that explains %s', (_, lines) => {
    expect(isExplainable(operationsOf(lines))).toBe(true);
  });

  it.each(Object.entries(bad))('finds no order that explains %s', (_, lines) => {
    expect(isExplainable(operationsOf(lines))).toBe(false);
  });

  it('finds an order for a long history with many concurrent calls', () => {
    const lines = Array.from({ length: 300 }, (_, i): Line[] => [
      [10 * i, 10 * i + 25, lostCreate(`lost ${i}`)],
      [10 * i, 10 * i + 15, lostDelete],
      [10 * i + 1, 10 * i + 4, read(i % 2 ? null : `lost ${i}`)],
    ]);
    expect(isExplainable(operationsOf(lines.flat()))).toBe(true);
  });
});

it('reports no operation that started after the end of the first unexplained operation', () => {
  const lines: Line[] = [
    [0, 1, create('x')],
    [2, 9, deleted],
    [3, 4, read('y')],
    [5, 6, create('y')],
  ];
  expect(unexplainedPart(operationsOf(lines))).toEqual(operationsOf(lines.slice(0, 3)));
});
