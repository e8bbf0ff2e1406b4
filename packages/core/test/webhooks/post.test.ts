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

/** Gives a host the address 127.0.0.1, and an address at which nothing listens. */
function mockLookup(): void {
  const addresses = [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ];
  // TypeScript knows only the last of the function's signatures.
  const spy = vi.spyOn(dns, 'lookup').mockResolvedValue(addresses as never);
  syncBuiltinESMExports();
  onTestFinished(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });
}

it('waits for a slow connection when the other address of the endpoint is unreachable', async () => {
  const port = await startBusy();
  mockLookup();
  expect(await send('partner.test', port)).toMatchObject({ status: 200 });
});
