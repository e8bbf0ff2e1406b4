import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { hasPosixSignals } from '@plant-store/test-setup';
import { describe, expect, it, vi } from 'vitest';
import { eventSurfaces, requestEvents } from '../fixtures/event-surfaces.ts';
import { runFirst, type Served, serve, stopProgram } from '../fixtures/program.ts';
import { beginCreate, openSocket } from '../fixtures/raw-request.ts';
import { get, post } from '../fixtures/surfaces.ts';

const plant = '{"id":1,"name":"x"}';

/** Sends the body of a create, and expects the status 200. */
async function finishCreate(socket: Socket): Promise<void> {
  const [response] = await Promise.all([once(socket, 'data'), socket.write(plant)]);
  expect(String(response)).toMatch(/^HTTP\/1\.1 200 OK/);
}

const stopsListening = ({ url }: Served) =>
  vi.waitFor(() => expect(fetch(`${url}/livez`)).rejects.toThrow());

describe.runIf(hasPosixSignals)('the process', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'responds to all requests in progress, even to waiting requests, before it exits on %s',
    async (signal) => {
      const server = await serve();
      const { next } = Object(await (await get(server, '/plants/changes')).json());
      const waiting = get(server, `/plants/changes?after=${next}&wait=20`);
      const streams = await Promise.all(eventSurfaces.map((each) => requestEvents(each, server)));
      const texts = streams.map((stream) => stream.text());
      const socket = await beginCreate(server, plant);
      server.child.kill(signal);
      const response = await waiting;
      expect([response.status, await response.json()]).toEqual([200, { changes: [], next }]);
      for (const text of await Promise.all(texts)) {
        expect(text).not.toMatch(/event: (return|serialized-error)/);
      }
      await finishCreate(socket);
      expect(await server.ended()).toBe(0);
    },
  );

  it('is not ready after SIGTERM, but accepts requests during the drain delay', async () => {
    const server = await serve({ PLANT_STORE_DRAIN_DELAY_MS: '600000' });
    server.child.kill('SIGTERM');
    const ready = () => fetch(`${server.url}/readyz`);
    await vi.waitFor(async () => expect((await ready()).status).toBe(503));
    const response = await ready();
    expect(await response.json()).toMatchObject({ error: 50302 });
    const sent = await post(server, '/plants', plant);
    expect([sent.status, sent.headers.get('connection')]).toEqual([200, 'close']);
  });

  it('exits immediately after a second signal', async () => {
    const server = await serve();
    await beginCreate(server, plant);
    server.child.kill('SIGTERM');
    await stopsListening(server);
    server.child.kill('SIGINT');
    expect(await server.ended()).toBe(1);
  });

  it('exits even if a client never sends the end of a request', async () => {
    const server = await serve();
    const socket = openSocket(server.url);
    socket.write('POST /plants HTTP/1.1\r\nHost: x\r\nContent-Le');
    await once(socket, 'ready');
    (await beginCreate(server, plant)).write('{');
    expect(await stopProgram(server)).toBe(0);
  });

  it.each([
    ['an uncaught exception', `throw new TypeError('an accident')`],
    ['an unhandled rejection', `Promise.reject(new TypeError('an accident'))`],
  ])(
    'after %s, responds to the requests in progress, logs the cause, and exits with code 1',
    async (_event, code) => {
      const server = await serve(runFirst(`process.on('SIGUSR2', () => { ${code} })`));
      const socket = await beginCreate(server, plant);
      server.child.kill('SIGUSR2');
      await stopsListening(server);
      await finishCreate(socket);
      expect(await server.ended()).toBe(1);
      const fatal = server.log().filter(({ level }) => level === 60);
      expect(fatal).toMatchObject([{ err: { message: 'an accident' } }]);
      expect(server.output()).not.toMatch(/\n +at /);
    },
  );
});

it.runIf(hasPosixSignals)(
  'a server rejects a write that arrived while the process was suspended, and accepts later writes',
  async () => {
    const stopped = await serve();
    const create = () => post(stopped, '/plants', '{"id":1,"name":"x"}');
    stopped.child.kill('SIGSTOP');
    const response = create();
    await setTimeout(3_000); // The server tolerates a suspension of two seconds.
    stopped.child.kill('SIGCONT');
    expect(Object(await (await response).json()).error).toBe(50301);
    await vi.waitFor(async () => expect((await create()).status).toBe(200));
  },
);
