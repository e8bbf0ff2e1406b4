import type { LookupAddress } from 'node:dns';
import dns from 'node:dns/promises';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { expect, it, onTestFinished, vi } from 'vitest';
import { parseAllowed } from '../../src/webhooks/addresses.ts';
import { post } from '../../src/webhooks/post.ts';
import { listen } from '../fixtures/listen.ts';

const allowed = parseAllowed(['127.0.0.1', 'partner.test']);
const send = (host: string, port: number) =>
  post(`http://${host}:${port}/`, '{}', () => ({}), { allowed });

it('sends a message when the endpoint has closed all idle connections at once', async () => {
  const used = new WeakSet<Socket>();
  const server = createServer(({ socket }, response) => {
    if (used.has(socket)) return void socket.resetAndDestroy();
    used.add(socket);
    setTimeout(() => response.end(), 50); // The requests overlap, so each request needs a connection.
  });
  const port = await listen(server);
  await Promise.all(Array.from({ length: 3 }, () => send('127.0.0.1', port)));
  expect(await send('127.0.0.1', port)).toMatchObject({ status: 200 });
});

/** Starts a server that takes no connection for half a second while its queue of connections is full. */
async function startBusy(): Promise<number> {
  const program = `
    const { parentPort } = require('node:worker_threads');
    const server = require('node:http').createServer((_, response) => response.end());
    server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
      parentPort.postMessage(server.address().port);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
    });`;
  const worker = new Worker(program, { eval: true });
  onTestFinished(async () => void (await worker.terminate()));
  const port = await new Promise<number>((resolve) => worker.once('message', resolve));
  // The queue has room for two connections.
  for (let i = 0; i < 2; i += 1) {
    const socket = connect(port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    await once(socket, 'connect');
  }
  return port;
}

/** Replaces the look-up of hosts. */
function mockLookup(lookup: (host: string) => Promise<LookupAddress[]>): void {
  // TypeScript knows only the last of the function's signatures.
  const spy = vi.spyOn(dns, 'lookup').mockImplementation(lookup as never);
  syncBuiltinESMExports();
  onTestFinished(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });
}

it('waits for a slow connection when the other address of the endpoint is unreachable', async () => {
  const port = await startBusy();
  // Nothing listens at the second address.
  mockLookup(async () => [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ]);
  expect(await send('partner.test', port)).toMatchObject({ status: 200 });
});

it('looks up one host at a time, and no host whose attempt has ended', async () => {
  const hosts: string[] = [];
  const found = Promise.withResolvers<LookupAddress[]>();
  mockLookup((host) => {
    hosts.push(host);
    return found.promise;
  });
  const controller = new AbortController();
  const { signal } = controller;
  const attempts = ['one.test', 'two.test', 'three.test'].map((host) =>
    post(`https://${host}/`, '{}', () => ({}), {
      allowed,
      signal: host === 'two.test' ? signal : undefined,
    }),
  );
  await vi.waitFor(() => expect(hosts).toEqual(['one.test']));
  controller.abort(new Error('the operator has paused the webhook'));
  await expect(attempts[1]).rejects.toThrow('paused');
  expect(hosts).toEqual(['one.test']);
  found.resolve([{ address: '10.0.0.1', family: 4 }]);
  expect((await attempts[2])?.error).toContain('three.test, which is not public');
  expect(hosts).toEqual(['one.test', 'three.test']);
});
