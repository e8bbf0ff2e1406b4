import { EventEmitter } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createFairTurns } from '../../src/requests/fair-turns.ts';

/**
 * Makes a queue that serves at most eight requests in a turn. A request that waits for more than a second is
 * late. The clock moves by `errorTime` milliseconds for each error, and otherwise only when a test moves the
 * clock.
 */
function start({ errorTime = 100 } = {}) {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const server = new EventEmitter();
  const dropped: FastifyRequest[] = [];
  const takeTurn = createFairTurns({
    maxInTurn: 8,
    maxWait: 1_000,
    onDrop: (request) => dropped.push(request),
    server,
  });
  const outcomes: string[] = [];
  return {
    server,
    dropped,
    /** Sends `count` requests. */
    send(count: number, name = '', request = { isGone: false }) {
      for (let i = 0; i < count; i++) {
        // `takeTurn` reads only this property of a request.
        takeTurn(request as FastifyRequest, (error) => {
          if (error) vi.advanceTimersByTime(errorTime);
          outcomes.push(error ? `${name} ${error.code}` : name);
        });
      }
    },
    /** Returns the outcomes since the last call of this function. */
    outcomes: () => outcomes.splice(0),
    async nextTurn() {
      await setImmediate();
      return outcomes.splice(0);
    },
  };
}

it('lets eight requests continue in each turn, in the order of their arrival', async () => {
  const { send, outcomes, nextTurn } = start();
  send(10, 'early');
  expect(outcomes()).toEqual(Array(8).fill('early'));
  send(7, 'later');
  expect(outcomes()).toEqual([]);
  expect(await nextTurn()).toEqual([...Array(2).fill('early'), ...Array(6).fill('later')]);
  expect(await nextTurn()).toEqual(['later']);
  send(8, 'at once');
  expect(outcomes()).toEqual(Array(7).fill('at once'));
});

it('lets only one request continue in a turn that has accepted a connection', async () => {
  const { server, send, outcomes, nextTurn } = start();
  send(20);
  expect(outcomes()).toHaveLength(8);
  server.emit('connection');
  expect(await nextTurn()).toHaveLength(1);
  server.emit('connection');
  server.emit('connection');
  expect(await nextTurn()).toHaveLength(2);
  expect(await nextTurn()).toHaveLength(8);
});

it('rejects late requests with 50301, and uses most of each turn for requests that are not late', async () => {
  const { send, outcomes, nextTurn } = start();
  send(8 + 8 + 12, 'late');
  outcomes();
  vi.advanceTimersByTime(500);
  expect(await nextTurn()).toEqual(Array(8).fill('late'));
  send(16, 'in time');
  vi.advanceTimersByTime(501);
  const turn = [...Array(8).fill('in time'), 'late 50301'];
  expect([await nextTurn(), await nextTurn()]).toEqual([turn, turn]);
  expect(await nextTurn()).toEqual(Array(8).fill('late 50301'));
  expect(await nextTurn()).toEqual(Array(2).fill('late 50301'));
});

it('uses an eighth of the time to reject late requests, even while connections arrive', async () => {
  const { server, send, outcomes, nextTurn } = start({ errorTime: 10 });
  send(8 + 8 + 50, 'late');
  outcomes();
  expect(await nextTurn()).toHaveLength(8);
  for (const late of [13, 13, 13, 11]) {
    server.emit('connection');
    vi.advanceTimersByTime(1_001);
    expect(await nextTurn()).toEqual(Array(late).fill('late 50301'));
  }
});

it('drops a request whose client has disconnected', async () => {
  const { dropped, send, outcomes, nextTurn } = start();
  const request = { isGone: false };
  send(8);
  send(3, 'gone', request);
  send(1, 'there');
  outcomes();
  request.isGone = true;
  expect(await nextTurn()).toEqual(['there']);
  expect(dropped).toEqual([request, request, request]);
});
