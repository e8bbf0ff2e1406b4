import { once } from 'node:events';
import { hasPosixShell } from '@plant-store/test-setup';
import { expect, it, onTestFinished, vi } from 'vitest';
import { serve } from '../fixtures/program.ts';
import { openSocket, requestText } from '../fixtures/raw-request.ts';
import { post } from '../fixtures/surfaces.ts';

/** The limit of file descriptors. The server needs about 30 file descriptors for itself. */
const limit = 64;

// Windows has no limit of file descriptors.
it.runIf(hasPosixShell)(
  'reserves file descriptors for the database, and reports each rejected connection',
  async () => {
    const withLimit = `ulimit -n ${limit} && exec "$@"`;
    const server = await serve({ PLANT_STORE_METRICS_PORT: '0' }, withLimit);
    const [, max] = await server.printed(
      /a limit of 64 file descriptors allows only (\d+) connections: raise it/,
    );

    const sockets = Array.from({ length: limit }, () => openSocket(server.url));
    onTestFinished(() => sockets.forEach((socket) => void socket.destroy()));
    let closed = 0;
    for (const socket of sockets) {
      socket.resume().once('close', () => closed++);
    }
    await vi.waitFor(() => expect(closed).toBe(limit - Number(max)));
    const { value } = await server.metrics();
    expect(value('plant_store_errors_total{code="50301"}')).toBe(closed);
    await server.printed(new RegExp(`a connection was rejected: ${max} are open`));

    // The server responds on the other connections, and still has file descriptors for the database.
    const open = sockets.filter((socket) => !socket.closed);
    const responses = open.map(async (socket, id) => {
      const json = JSON.stringify({ id, name: 'x' });
      socket.write(requestText('POST /plants', server.token, json));
      return String(await once(socket, 'data')).split('\r\n', 1)[0];
    });
    expect(new Set(await Promise.all(responses))).toEqual(new Set(['HTTP/1.1 200 OK']));

    for (const socket of sockets) socket.destroy();
    await vi.waitFor(async () =>
      expect((await post(server, '/plants', '{"id":99,"name":"x"}')).status).toBe(200),
    );
  },
);
