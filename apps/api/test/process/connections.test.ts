import { once } from 'node:events';
import { hasPosixShell } from '@plant-store/test-setup';
import { expect, it, onTestFinished, vi } from 'vitest';
import { serve } from '../fixtures/program.ts';
import { openSocket, requestText } from '../fixtures/raw-request.ts';
import { get, post } from '../fixtures/surfaces.ts';

/** The limit of file descriptors. The server needs about 30 file descriptors for itself. */
const limit = 64;

const startLimited = () => serve({}, `ulimit -n ${limit} && exec "$@"`);

// Windows has no limit of file descriptors.
it.runIf(hasPosixShell)(
  'connections beyond the limit are closed, and the database still has its own',
  async () => {
    const server = await startLimited();
    await server.printed(/"level":40,.*file descriptors.*connections/);
    const sockets = Array.from({ length: limit }, () => openSocket(server.url));
    onTestFinished(() => sockets.forEach((socket) => void socket.destroy()));
    let closed = 0;
    for (const socket of sockets) socket.resume().once('close', () => closed++);
    await vi.waitFor(() => expect(closed).toBeGreaterThan(0));
    await server.printed(/a connection was rejected/);

    const responses = sockets
      .filter((socket) => !socket.closed)
      .map(async (socket, id) => {
        const json = JSON.stringify({ id, name: 'x' });
        socket.write(requestText('POST /plants', server.token, json));
        const first = await Promise.race([once(socket, 'data'), once(socket, 'close')]);
        return String(first).split('\r\n', 1)[0];
      });
    const lines = await Promise.all(responses);
    expect(lines.filter((line) => line === 'HTTP/1.1 200 OK').length).toBeGreaterThan(1);

    for (const socket of sockets) socket.destroy();
    await vi.waitFor(async () =>
      expect((await post(server, '/plants', '{"id":99,"name":"x"}')).status).toBe(200),
    );
  },
);

it.runIf(hasPosixShell)(
  'waits for changes leave connections for other requests: further waits get 50301',
  async () => {
    const server = await startLimited();
    const { next } = Object(await (await get(server, '/plants/changes')).json());
    const client = new AbortController();
    onTestFinished(() => client.abort());
    const outcomes: number[] = [];
    for (let i = 0; i < limit; i++) {
      void fetch(`${server.url}/plants/changes?after=${next}&wait=20`, {
        headers: { authorization: `Bearer ${server.token}` },
        signal: client.signal,
      })
        .then(async (response) => outcomes.push(Object(await response.json()).error))
        .catch(() => {});
    }
    await vi.waitFor(() => expect(outcomes).toContain(50301));
    await vi.waitFor(async () => expect((await get(server, '/plants')).status).toBe(200));
  },
);
