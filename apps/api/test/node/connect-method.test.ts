import { once } from 'node:events';
import type { PlantStore } from '@plant-store/core';
import { expect, it, vi } from 'vitest';
import { openSocket, rawPost, rawRequest } from '../fixtures/raw-request.ts';
import { shareServer } from '../fixtures/running-server.ts';

const held = Promise.withResolvers<void>();
const create = vi.fn<PlantStore['create']>(async ({ name }) => {
  await held.promise;
  return { name };
});

const server = shareServer({ create });

const connectRequest = rawRequest('CONNECT example.com:443');

it('closes the connection after CONNECT, even if the client keeps its side open', async () => {
  const socket = openSocket(server.url, { allowHalfOpen: true });
  socket.write(connectRequest);
  await once(socket.resume(), 'end');
  await vi.waitFor(async () => expect(await server.connections()).toBe(0));
  socket.destroy();
});

it('keeps running when a client sends a create and CONNECT, and then disconnects', async () => {
  const socket = openSocket(server.url);
  socket.write(rawPost('{"id":1,"name":"x"}') + connectRequest);
  await vi.waitFor(() => expect(create).toHaveBeenCalled());
  socket.resetAndDestroy();
  held.resolve();
  await vi.waitFor(async () => expect(await server.connections()).toBe(0));
  expect((await fetch(`${server.url}/livez`)).status).toBe(200);
});
