import { once } from 'node:events';
import type { Socket } from 'node:net';
import { hasPosixSignals, hasScript } from '@plant-store/test-setup';
import { describe, expect, it, vi } from 'vitest';
import { eventSurfaces, requestEvents } from '../fixtures/event-surfaces.ts';
import { inTerminal, type Served, serve, stopProgram } from '../fixtures/program.ts';
import { beginCreate, openSocket } from '../fixtures/raw-request.ts';
import { get } from '../fixtures/surfaces.ts';

describe.runIf(hasPosixSignals)('the process', () => {
  let server: Served;

  async function start(env: Record<string, string> = {}, shell?: string): Promise<void> {
    server = await serve(env, shell);
  }

  /** Sends a signal to the server's process, even when `script` has started the server. */
  async function signalProgram(signal: NodeJS.Signals): Promise<void> {
    const [, pid] = await server.printed(/or kill (\d+)/);
    process.kill(Number(pid), signal);
  }

  const plant = '{"id":1,"name":"x"}';

  /** Sends the body of a create. Resolves with the response. */
  async function finishCreate(socket: Socket): Promise<string> {
    const [response] = await Promise.all([once(socket, 'data'), socket.write(plant)]);
    return String(response);
  }

  const stopsListening = () =>
    vi.waitFor(() => expect(fetch(`${server.url}/livez`)).rejects.toThrow());

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'responds to the requests in progress before it exits on %s',
    async (signal) => {
      await start();
      const socket = await beginCreate(server, plant);
      server.child.kill(signal);
      await stopsListening();
      expect(await finishCreate(socket)).toMatch(/^HTTP\/1\.1 200 OK/);
      expect(await server.ended()).toBe(0);
    },
  );

  it('before the exit, responds immediately and without an error to clients that wait for changes', async () => {
    await start();
    const { next } = Object(await (await get(server, '/plants/changes')).json());
    const waiting = get(server, `/plants/changes?after=${next}&wait=20`);
    const streams = await Promise.all(eventSurfaces.map((each) => requestEvents(each, server)));
    const texts = streams.map((stream) => stream.text());
    const socket = await beginCreate(server, plant);
    server.child.kill('SIGTERM');
    const response = await waiting;
    expect([response.status, await response.json()]).toEqual([200, { changes: [], next }]);
    expect(response.headers.get('connection')).toBe('close');
    for (const text of await Promise.all(texts)) {
      expect(text).toMatch(/^retry: \d+\n(event: connected\n|\n)/);
      expect(text).not.toMatch(/event: (return|serialized-error)/);
    }
    expect(await finishCreate(socket)).toMatch(/^HTTP\/1\.1 200 OK/);
    expect(await server.ended()).toBe(0);
  });

  it('is not ready after SIGTERM, but accepts requests during the drain delay', async () => {
    await start({ PLANT_STORE_DRAIN_DELAY_MS: '600000' });
    server.child.kill('SIGTERM');
    await vi.waitFor(async () => expect((await fetch(`${server.url}/readyz`)).status).toBe(503));
    expect(await finishCreate(await beginCreate(server, plant))).toMatch(/^HTTP\/1\.1 200 OK/);
  });

  it('exits immediately after a second signal', async () => {
    await start();
    await beginCreate(server, plant);
    server.child.kill('SIGTERM');
    await stopsListening();
    server.child.kill('SIGINT');
    expect(await server.ended()).toBe(1);
  });

  it('does not stop after SIGHUP when the server has no terminal', async () => {
    await start();
    server.child.kill('SIGHUP');
    expect(await finishCreate(await beginCreate(server, plant))).toMatch(/^HTTP\/1\.1 200 OK/);
    server.child.kill('SIGHUP');
    expect(await stopProgram(server)).toBe(0);
    expect(server.output().match(/"msg":"stopping"/g)).toHaveLength(1);
  });

  it.runIf(hasScript)(
    'responds to the requests in progress when its terminal sends SIGHUP twice',
    async () => {
      await start({}, inTerminal);
      const socket = await beginCreate(server, plant);
      await signalProgram('SIGHUP');
      await stopsListening();
      await signalProgram('SIGHUP');
      expect(await finishCreate(socket)).toMatch(/^HTTP\/1\.1 200 OK/);
      expect(await server.ended()).toBe(0);
    },
  );

  it.runIf(hasScript)('stops when the terminal of the server closes', async () => {
    await start({}, inTerminal);
    const [, pid] = await server.printed(/or kill (\d+)/);
    server.child.kill('SIGKILL'); // When `script` ends, the terminal closes.
    await vi.waitFor(() => expect(() => process.kill(Number(pid), 0)).toThrow('ESRCH'), 60_000);
  });

  it('exits even if a client never sends the end of a request', async () => {
    await start();
    const socket = openSocket(server.url);
    socket.write('POST /plants HTTP/1.1\r\nHost: x\r\nContent-Le');
    await once(socket, 'ready');
    (await beginCreate(server, plant)).write('{');
    expect(await stopProgram(server)).toBe(0);
  });

  it('writes the log line of every request before the exit', async () => {
    await start();
    for (let i = 0; i < 50; i++)
      expect((await fetch(`${server.url}/openapi.json`)).status).toBe(200);
    expect(await stopProgram(server)).toBe(0);
    expect(server.output().match(/"path":"\/openapi.json",.*"status":200/g)).toHaveLength(50);
    expect(server.output()).toMatch(/"msg":"stopping"}\n.*"msg":"stopped"}\n$/);
  });

  /** Returns an environment variable that makes the server run `code` on SIGUSR2. */
  const onSigusr2 = (code: string) => {
    const script = `process.on('SIGUSR2', () => { ${code} })`;
    return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` };
  };

  it.each([
    ['an uncaught exception', `throw new TypeError('an accident')`, 'an accident'],
    ['an unhandled rejection', `Promise.reject(new TypeError('an accident'))`, 'an accident'],
    [
      'a thrown value that is not an error',
      `throw { secret: 'secret' }`,
      'a value was thrown, not an error (object)',
    ],
  ])(
    'after %s, responds to the requests in progress and exits with code 1',
    async (_event, code, message) => {
      await start(onSigusr2(code));
      const socket = await beginCreate(server, plant);
      server.child.kill('SIGUSR2');
      await stopsListening();
      expect(await finishCreate(socket)).toMatch(/^HTTP\/1\.1 200 OK/);
      expect(await server.ended()).toBe(1);

      const lines = server
        .output()
        .match(/^\{"level":60.*$/gm)
        ?.map((line) => JSON.parse(line));
      expect(lines).toMatchObject([
        { err: { message }, msg: 'an uncaught exception stops the process' },
      ]);
      expect(server.output()).not.toMatch(/"secret"|node_modules|\n +at /);
    },
  );
});
