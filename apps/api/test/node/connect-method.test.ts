import { once } from 'node:events';
import { expect, it, vi } from 'vitest';
import { holdCreates } from '../fixtures/held-create.ts';
import { openSocket, rawPost, rawRequest } from '../fixtures/raw-request.ts';
import { shareServer } from '../fixtures/running-server.ts';

const { create, release } = holdCreates();
const server = shareServer({ create });

const connectRequest = rawRequest('CONNECT example.com:443');

it('closes the connection after CONNECT, even if the client never closes the connection', async () => {
  const socket = openSocket(server.url, { allowHalfOpen: true });
  socket.write(connectRequest);
  await once(socket.resume(), 'end');
  await vi.waitFor(async () => expect(await server.connections()).toBe(0));
  socket.destroy();
});

it('still responds after a client has sent a create and CONNECT, and has disconnected', async () => {
  const socket = openSocket(server.url);
  socket.write(rawPost('{"id":1,"name":"x"}') + connectRequest);
  await vi.waitFor(() => expect(create).toHaveBeenCalled());
  socket.resetAndDestroy();
  release();
  await vi.waitFor(async () => expect(await server.connections()).toBe(0));
  expect((await fetch(`${server.url}/livez`)).status).toBe(200);
});
