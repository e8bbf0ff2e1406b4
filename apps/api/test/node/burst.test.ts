import { once } from 'node:events';
import { hasLongBacklog } from '@plant-store/test-setup';
import { expect, it } from 'vitest';
import { serve } from '../fixtures/program.ts';
import { lastRequest, openSocket } from '../fixtures/raw-request.ts';

// Windows cannot pause a process. On macOS, at most 128 connections can wait for a paused server.
it.runIf(hasLongBacklog)(
  'responds to a thousand clients that connect while the server is paused',
  async () => {
    const server = await serve();
    server.child.kill('SIGSTOP'); // A paused process accepts no connection.
    const sockets = Array.from({ length: 1_000 }, () => openSocket(server.url));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    server.child.kill('SIGCONT');
    const responses = await Promise.all(
      sockets.map(async (socket) => {
        socket.write(lastRequest);
        const [response] = await once(socket, 'data');
        socket.destroy();
        return String(response).split('\r\n', 1)[0];
      }),
    );
    expect(new Set(responses)).toEqual(new Set(['HTTP/1.1 200 OK']));
  },
);
