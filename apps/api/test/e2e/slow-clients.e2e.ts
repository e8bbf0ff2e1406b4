import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { jwtSettings, startIdentityProvider } from '../fixtures/identity-provider.ts';
import { serve } from '../fixtures/program.ts';
import {
  bearer,
  close,
  expectError,
  openSocket,
  rawPost,
  rawRequest,
  sendRaw,
} from '../fixtures/raw-request.ts';
import { shareServer, startForTest } from '../fixtures/server.ts';
import { get, post } from '../fixtures/surfaces.ts';

describe.concurrent('a client that is slow', () => {
  const server = shareServer();

  it.concurrent.each([
    ['the headers', 'POST /plants HTTP/1.1\r\nHost: x\r\n'],
    ['a body over REST', rawPost('{"id":1}').slice(0, -1)],
    ['a body over tRPC', rawPost('{"json":1}', '/trpc/createPlant').slice(0, -1)],
  ])('gets 40800 when it does not send all of %s in time', async (_, bytes) => {
    expectError(await sendRaw(server.url, bytes), 40800);
  });

  it.concurrent('creates its plant when the body arrives within the time limit', async () => {
    const request = rawPost('{"id":7,"name":"slow"}', '/plants', [close]);
    const socket = openSocket(server.url);
    socket.write(request.slice(0, -20));
    for (const byte of request.slice(-20)) {
      await setTimeout(1_000);
      socket.write(byte);
    }
    const [response] = await once(socket, 'data');
    expect(String(response)).toMatch(/^HTTP\/1\.1 200 OK/);
  });
});

it('clients that read no responses fill the budget for responses until they lose their connections', async () => {
  const server = await startForTest();
  const plants = Array.from({ length: 1_000 }, (_, id) => ({ id, name: 'x'.repeat(900) }));
  await post(server, '/plants/batch', JSON.stringify({ plants }));
  const list = rawRequest('GET /plants?limit=1000', [bearer(server.token)]);
  const sockets = Array.from({ length: 8 }, () => openSocket(server.url).pause());
  onTestFinished(() => sockets.forEach((socket) => void socket.destroy()));
  for (const socket of sockets) socket.write(list.repeat(20));
  const status = async () => (await get(server, '/plants?limit=1000')).status;
  await expect.poll(status).toBe(503);
  expect((await get(server, '/plants?limit=1')).status).toBe(200);
  await expect.poll(status, { timeout: 250_000, interval: 1_000 }).toBe(200);
});

it('a new key of the identity provider is accepted without a restart', async () => {
  const provider = await startIdentityProvider();
  onTestFinished(provider.stop);
  await provider.addKey('first');
  const server = await startForTest(jwtSettings(provider));
  const statusOf = async (token: string) => (await get({ ...server, token }, '/whoami')).status;
  expect(await statusOf(await provider.sign())).toBe(200);
  await provider.addKey('second');
  const rotated = async () => statusOf(await provider.sign({ header: { kid: 'second' } }));
  await expect.poll(rotated, { timeout: 120_000, interval: 1_000 }).toBe(200);
});

it('a log that nobody reads never stops the server', async () => {
  const server = await serve();
  server.child.stdout?.pause();
  const path = `${server.url}/${'x'.repeat(190)}`;
  for (let i = 0; i < 60; i++) {
    const responses = await Promise.all(Array.from({ length: 100 }, () => fetch(path)));
    for (const { status } of responses) expect(status).toBe(404);
  }
  server.child.kill('SIGTERM');
  await vi.waitFor(() => expect(server.child.exitCode).toBe(0));
});
