import { expect, it } from 'vitest';
import {
  type Call,
  effectLimit,
  operationsById,
  type Request,
  unexpectedCalls,
} from './history.ts';
import type { Fault } from './schedule.ts';

const callOf = (request: Request, outcome?: Partial<NonNullable<Call['outcome']>>): Call => ({
  client: 1,
  instance: 'A',
  surface: 'REST',
  request,
  start: 100,
  arrival: 110,
  end: 200,
  outcome: outcome && { status: 200, headers: new Headers(), ...outcome },
});

const create: Request = { procedure: 'createPlant', input: { id: 2, name: 'fern', tag: 'herb' } };
const list: Request = { procedure: 'listPlants', input: { after: 1, limit: 2 } };

it('returns a read of each id in the range of a page of a list', () => {
  const output = { plants: [{ id: 2n, name: 'fern' }], next: 3n };
  const operations = operationsById([callOf(list, { output })], [1, 2, 3, 4]);
  const actions = [...operations.values()].map(([operation]) => operation?.action);
  const reads = ['fern', null].map((state) => ({ type: 'read', state }));
  expect(actions).toEqual([undefined, ...reads, undefined]);
});

it('counts the last page of a list as a read of each id after its cursor', () => {
  const operations = operationsById([callOf(list, { output: { plants: [] } })], [1, 2, 3]);
  expect([...operations.values()].map(({ length }) => length)).toEqual([0, 1, 1]);
});

it('expects that a call without a response takes effect within the time limit of a call, or never', () => {
  for (const call of [callOf(create), callOf(create, { status: 503, error: 50300 })]) {
    const action = { type: 'create', content: 'fern (herb)', result: 'unknown' };
    const operation = { action, start: 100, end: 110 + effectLimit, isCertain: false, call };
    expect(operationsById([call], [2]).get(2)).toEqual([operation]);
  }
});

it('allows a call without a response to take effect up to one second after the end of a slow flush', () => {
  const flush = { name: 'slowFlush', instance: 0, start: 5_000, end: 15_000 } as const;
  const endOf = (fault: Fault) =>
    operationsById([callOf(create)], [2], [fault])
      .get(2)
      ?.map(({ end }) => end);
  expect(endOf(flush)).toEqual([16_000]);
  expect(endOf({ ...flush, name: 'slowFlushCutShort', end: 7_000 })).toEqual([8_000]);
  // Only a slow flush of the disk during the call extends the time limit of the call.
  expect(endOf({ ...flush, name: 'freeze' })).toEqual([110 + effectLimit]);
  expect(endOf({ ...flush, start: 110 + effectLimit })).toEqual([110 + effectLimit]);
  expect(endOf({ ...flush, start: 0, end: 110 })).toEqual([110 + effectLimit]);
  const call = callOf(create, {});
  expect(operationsById([call], [2], [flush]).get(2)?.[0]?.end).toBe(call.end);
});

it('expects that a call has no effect when the store rejects the call because of overload', () => {
  expect(operationsById([callOf(create, { status: 503, error: 50301 })], [2]).get(2)).toEqual([]);
});

it('reports a response that the store must not send', () => {
  const calls = [200, 40900, 50300, 50301, 40401, 50000].map((error) =>
    callOf(create, error === 200 ? {} : { error }),
  );
  expect(unexpectedCalls(calls)).toEqual(calls.slice(4));
});
