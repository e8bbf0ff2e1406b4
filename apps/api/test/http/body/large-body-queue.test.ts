import type { FastifyRequest } from 'fastify';
import { expect, it, onTestFinished, vi } from 'vitest';
import { queueBody } from '../../../src/requests/body/large-body-queue.ts';

const large = 2 ** 20;

function request({ isGone = false, waitTime = 0 } = {}): FastifyRequest {
  return { isGone, waitTime } as FastifyRequest; // The queue reads only these two properties of a request.
}

/** Returns a function that hands a body to the queue, and a list of the outcomes of all bodies. */
function start() {
  vi.useFakeTimers({ now: 0 });
  onTestFinished(() => {
    vi.runAllTimers(); // Empties the queue, which all tests share.
    vi.useRealTimers();
  });
  const events: string[] = [];
  const receive = (name: string, bytes: number, of = request()) =>
    queueBody(of, bytes, (tooLate) => {
      events.push(tooLate ? `${name}: ${tooLate.message}` : name);
      if (!tooLate) vi.advanceTimersByTime(bytes === large ? 100 : 0);
    });
  return { events, receive };
}

it('reads a small body immediately, even when a large body has just been read', () => {
  const { events, receive } = start();
  receive('large', large);
  receive('small', 100);
  expect(events).toEqual(['large', 'small']);
});

it('after a large body, pauses for the time that the reading of the body took', () => {
  const { events, receive } = start();
  receive('first', large);
  receive('second', large);
  receive('third', large);
  expect(events).toEqual(['first']);
  vi.advanceTimersByTime(99);
  expect(events).toEqual(['first']);
  vi.advanceTimersByTime(1);
  expect(events).toEqual(['first', 'second']);
  vi.advanceTimersByTime(100);
  expect(events).toEqual(['first', 'second', 'third']);
});

it.each([
  { when: 'the client is gone', late: { isGone: true }, error: 'the caller has disconnected' },
  {
    when: 'the deadline of the request has passed',
    late: { waitTime: 4_950 },
    error:
      'the bodies of other requests took too long to read: nothing was written, send the request again later',
  },
])('does not read a large body that waits in the queue when $when', ({ late, error }) => {
  const { events, receive } = start();
  receive('first', large);
  receive('late', large, request(late));
  vi.advanceTimersByTime(1_000);
  expect(events).toEqual(['first', `late: ${error}`]);
});
