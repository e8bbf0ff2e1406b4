import { once } from 'node:events';
import { connect } from 'node:net';
import type { PlantStore } from '@plant-store/core';
import { expect, it, vi } from 'vitest';
import { expectError } from '../fixtures/expect-error.ts';
import { sendRaw } from '../fixtures/raw-request.ts';
import { shareServer } from '../fixtures/running-server.ts';

const held = Promise.withResolvers<void>();
const create = vi.fn<PlantStore['create']>(async ({ name }) => {
  await held.promise;
  return { name };
});

const server = shareServer({ create });

const connectRequest = 'CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n';
const createRequest =
  'POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer test-token\r\n' +
  'Content-Type: application/json\r\nContent-Length: 19\r\n\r\n{"id":1,"name":"x"}';

const port = () => Number(new URL(server.url).port);

it('responds with 405 to CONNECT', async () => {
  const { status, body } = await sendRaw(server.url, connectRequest);
  expectError({ status, body: JSON.parse(body) }, 405, 40500);
});

it('closes the connection after CONNECT even if the client keeps its side open', async () => {
  const socket = connect({ port: port(), host: '127.0.0.1', allowHalfOpen: true });
  socket.write(connectRequest);
  await once(socket.resume(), 'end');
  await vi.waitFor(async () => expect(await server.connections()).toBe(0));
  socket.destroy();
});

it('keeps running when a client disconnects after it sends a create and CONNECT', async () => {
  const socket = connect(port(), '127.0.0.1').on('error', () => {});
  socket.write(createRequest + connectRequest);
  await vi.waitFor(() => expect(create).toHaveBeenCalled());
  socket.resetAndDestroy();
  held.resolve();
  await vi.waitFor(async () => expect(await server.connections()).toBe(0));
  expect((await fetch(`${server.url}/livez`)).status).toBe(200);
});
