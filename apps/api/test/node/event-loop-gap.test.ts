import { once } from 'node:events';
import { type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { expect, it, onTestFinished, vi } from 'vitest';
import { dropGoneAfterGap } from '../../src/connections/event-loop-gap.ts';
import { limitMemory } from '../../src/requests/memory/limit-memory.ts';
import { decorateRequests } from '../../src/requests/request-state.ts';
import { close, openSocket, rawRequest } from '../fixtures/raw-request.ts';

/** Makes a server with `dropGoneAfterGap`, and lists the requests that the server serves and drops. */
function start() {
  const time = { elapsed: 0, now: 0 };
  const served: string[] = [];
  const dropped: string[] = [];
  const server = fastify();
  onTestFinished(() => server.close());
  const release = ({ url }: FastifyRequest) => dropped.push(url);
  server.decorate('memory', { ...limitMemory(0), release });
  const hook = dropGoneAfterGap(server, { elapsed: () => time.elapsed, now: () => time.now });
  decorateRequests(server);
  server.addHook('preValidation', hook);
  server.get('/:client', async ({ url }) => served.push(url));

  return {
    server,
    time,
    served,
    dropped,
    /** Returns whether the hook lets a request pass immediately. */
    passesAtOnce() {
      const done = vi.fn();
      const request = { isGone: false } as FastifyRequest; // The hook reads only `isGone`.
      hook.call(server, request, {} as FastifyReply, done);
      return done.mock.calls.length > 0;
    },
  };
}

it.each(['elapsed', 'now'] as const)(
  'after a pause that the clock %s shows, drops the requests of clients that have disconnected',
  async (clock) => {
    const { server, time, served, dropped } = start();
    const url = await server.listen({ host: '127.0.0.1', port: 0 });
    const connectClient = async () => {
      const socket = openSocket(url);
      await once(socket, 'connect');
      return socket;
    };
    const ended = await connectClient();
    const destroyed = await connectClient();
    const waiting = await connectClient();
    time[clock] += 1_000;
    ended.end(rawRequest('GET /ended'));
    destroyed.write(rawRequest('GET /destroyed'), () => destroyed.destroy());
    waiting.write(rawRequest('GET /waiting', [close]));
    const [response] = await once(waiting, 'data');
    expect(String(response)).toMatch(/^HTTP\/1\.1 200 /);
    await vi.waitFor(() => expect(dropped.toSorted()).toEqual(['/destroyed', '/ended']));
    expect(served).toEqual(['/waiting']);
  },
);

it('delays only requests that arrive within 10 s after a pause of the process', () => {
  const { time, passesAtOnce } = start();
  const after = (milliseconds: number) => {
    time.elapsed += milliseconds;
    time.now += milliseconds;
    return passesAtOnce();
  };
  expect([after(0), after(999), after(999)]).toEqual([true, true, true]);
  expect(after(1_000)).toBe(false);
  for (let i = 0; i < 19; i++) expect(after(500)).toBe(false);
  expect([after(499), after(1)]).toEqual([false, true]);
});

it('detects no pause of the process when the wall clock is set back', () => {
  const { time, passesAtOnce } = start();
  time.now -= 3_600_000;
  expect(passesAtOnce()).toBe(true);
});

it('detects no pause of the process when no request arrives for seconds', () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const { time, passesAtOnce } = start();
  for (let i = 0; i < 10; i++) {
    time.elapsed += 250;
    vi.advanceTimersByTime(250);
  }
  expect(passesAtOnce()).toBe(true);
});

it('stops reading the clocks when the server closes', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const { server } = start();
  expect(vi.getTimerCount()).toBe(1);
  await server.close();
  expect(vi.getTimerCount()).toBe(0);
});
