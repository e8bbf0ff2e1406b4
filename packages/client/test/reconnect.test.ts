import { createTRPCClient, type Operation, TRPCClientError, type TRPCLink } from '@trpc/client';
import { observable } from '@trpc/server/observable';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AccessTokenError } from '../src/access-token.ts';
import type { AppRouter } from '../src/app-router.ts';
import { delayAfter, mayPass, reconnectLink } from '../src/reconnect.ts';

type SubscriptionLink = ReturnType<TRPCLink<AppRouter>>;
type Results = Parameters<ReturnType<SubscriptionLink>['subscribe']>[0];
interface Connection {
  op: Operation;
  results: Required<Results>;
  isOpen: boolean;
}

let connections: Connection[];
const last = () => connections.at(-1) ?? expect.unreachable('no connection');

/** A tRPC link without a network. Each test sends the results through `connections`. */
const network: TRPCLink<AppRouter> =
  () =>
  ({ op }) =>
    observable((results) => {
      const connection = { op, results, isOpen: true };
      connections.push(connection);
      return () => {
        connection.isOpen = false;
      };
    });

const client = createTRPCClient<AppRouter>({ links: [reconnectLink, network] });

beforeEach(() => {
  connections = [];
  vi.useFakeTimers();
  vi.spyOn(Math, 'random').mockReturnValue(1);
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const down = () => new TRPCClientError<AppRouter>('down');
const rejected = () => {
  const meta = { response: { status: 403 } };
  return new TRPCClientError<AppRouter>('rejected', { meta });
};

function follow(input?: { after: string }, signal?: AbortSignal) {
  const seen = { errors: [] as unknown[], states: [] as string[], data: [] as unknown[], ends: 0 };
  const { unsubscribe } = client.plantChanges.subscribe(input, {
    ...(signal && { signal }),
    onData: ({ data }) => seen.data.push(data),
    onError: (error) => seen.errors.push(error),
    onConnectionStateChange: ({ state, error }) =>
      seen.states.push(error ? `${state}: ${error.message}` : state),
    onComplete: () => seen.ends++,
  });
  return { ...seen, seen, unsubscribe };
}

const start = () => last().results.next({ result: { type: 'started' } });

/** Waits for the next connection, and returns the delay in milliseconds. */
function delayOfNext(): number {
  const count = connections.length;
  const before = Date.now();
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersToNextTimer();
  expect(connections).toHaveLength(count + 1);
  return Date.now() - before;
}

describe('a subscription', () => {
  it('waits longer after each error, but at most ten seconds', () => {
    follow();
    const delays = Array.from({ length: 7 }, () => {
      last().results.error(down());
      return delayOfNext();
    });
    expect(delays).toEqual([500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
  });

  it('connects immediately after a connection of over ten seconds, and then resets the delay', () => {
    const { states } = follow();
    for (const delay of [500, 1_000]) {
      last().results.error(down());
      expect(delayOfNext()).toBe(delay);
    }
    start();
    vi.advanceTimersByTime(10_001);
    const before = states.length;
    last().results.error(down());
    expect(connections).toHaveLength(4);
    expect(states).toHaveLength(before);
    last().results.error(down());
    expect(delayOfNext()).toBe(500);
  });

  it('waits after a connection of exactly ten seconds, and after a failed attempt', () => {
    follow();
    start();
    vi.advanceTimersByTime(10_000);
    last().results.error(down());
    expect(delayOfNext()).toBe(500);
    last().results.next({ result: { type: 'state', state: 'connecting', error: null } });
    vi.advanceTimersByTime(60_000);
    last().results.error(down());
    expect(delayOfNext()).toBe(1_000);
  });

  it('continues after the last event', () => {
    const { data } = follow({ after: 'first' });
    expect(last().op.input).toEqual({ after: 'first' });
    last().results.next({ result: { type: 'data', id: 'last', data: { id: 'last', data: 1 } } });
    start();
    last().results.error(down());
    delayOfNext();
    expect(last().op.input).toEqual({ after: 'first', lastEventId: 'last' });
    expect(data).toEqual([1]);
  });

  it('reports the original error when tRPC has wrapped a permanent error', () => {
    const { errors } = follow();
    const wrapped = new TRPCClientError<AppRouter>('wrapped', {
      cause: Object.assign(new Error(), { name: 'SuppressedError', suppressed: rejected() }),
    });
    last().results.error(wrapped);
    expect(errors).toEqual([expect.objectContaining({ message: 'rejected' })]);
    expect(connections).toHaveLength(1);
  });

  it('ends and closes its stream after a permanent error of the stream', () => {
    const { errors } = follow();
    last().results.next({ result: { type: 'state', state: 'connecting', error: down() } });
    expect(errors).toEqual([]);
    last().results.next({ result: { type: 'state', state: 'connecting', error: rejected() } });
    expect(errors).toEqual([expect.objectContaining({ message: 'rejected' })]);
    expect(last().isOpen).toBe(false);
  });

  it('ends when the stream ends', () => {
    const { seen } = follow();
    last().results.complete();
    expect(seen.ends).toBe(1);
  });

  it('closes the connection, or ends the delay, when the caller unsubscribes', () => {
    const first = follow();
    first.unsubscribe();
    expect(last().isOpen).toBe(false);
    const second = follow();
    last().results.error(down());
    second.unsubscribe();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('stops when its signal is aborted', () => {
    const controller = new AbortController();
    const { seen } = follow(undefined, controller.signal);
    controller.abort();
    expect(seen.ends).toBe(1);
    expect(last().isOpen).toBe(false);
    expect(vi.getTimerCount()).toBe(0);
  });
});

const outcomes: [object, boolean][] = [
  [{}, true],
  [{ cause: new AccessTokenError('missing') }, false],
  [{ meta: { response: { status: 401 } } }, false],
  [{ meta: { response: { status: 403 } } }, false],
  ...[200, 408, 429, 500, 502, 503].map((status): [object, boolean] => [
    { meta: { response: { status } } },
    true,
  ]),
  [{ meta: { response: { status: 501 } } }, false],
  [{ meta: { response: { status: 499 } } }, false],
  [{ result: { error: { code: 0, message: '', data: { httpStatus: 401 } } } }, true],
  [{ result: { error: { code: 0, message: '', data: { httpStatus: 410 } } } }, false],
];

it.each(outcomes)('says whether a subscription survives the error %j: %s', (options, expected) => {
  const error = new TRPCClientError<AppRouter>('x', options);
  expect(mayPass(error)).toBe(expected);
});

it('chooses a random delay between half of the limit and the limit', () => {
  vi.mocked(Math.random).mockReturnValue(0);
  expect([1, 2, 10].map((failures) => delayAfter(failures))).toEqual([250, 500, 5_000]);
  vi.mocked(Math.random).mockReturnValue(1);
  expect([1, 2, 10].map((failures) => delayAfter(failures))).toEqual([500, 1_000, 10_000]);
});
