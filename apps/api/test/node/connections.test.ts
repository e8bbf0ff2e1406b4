import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { PlantStore } from '@plant-store/core';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { sendRaw } from '../fixtures/raw-request.ts';
import { type RunningServer, startServer } from '../fixtures/running-server.ts';
import { post } from '../fixtures/surfaces.ts';

let server: RunningServer;
let sockets: Socket[];

beforeEach(async () => {
  sockets = [];
  server = await startServer('Postgres', { requestTimeout: 500, maxConnections: 600 });
});

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await server.stop();
});

/** Opens connections and sends the same on each; what comes back is left unread. */
async function open(count: number, text = ''): Promise<Socket[]> {
  const port = Number(new URL(server.url).port);
  const opened = Array.from({ length: count }, () => connect(port, '127.0.0.1'));
  for (const socket of opened) socket.on('error', () => {}).pause();
  sockets.push(...opened);
  await Promise.all(opened.map((socket) => once(socket, 'connect')));
  for (const socket of opened) socket.write(text);
  return opened;
}

const isServed = async () =>
  expect((await post(server, '/plants', '{"id":1,"name":"x"}')).status).toBe(200);

it.each([
  ['nothing', ''],
  ['half a head', 'POST /plants HTTP/1.1\r\nHost: x\r\n'],
  [
    'half a body',
    'POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer test-token\r\n' +
      'Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{"id":',
  ],
])('ends connections on which %s is sent, and serves others meanwhile', async (_what, text) => {
  const opened = await open(500, text);
  await isServed();
  for (const socket of opened) socket.resume();
  await Promise.all(opened.map((socket) => once(socket, 'close')));
  await isServed();
});

it('ends connections whose answers nobody reads, and serves others meanwhile', async () => {
  const page = '/docs/js/scalar.js'; // The largest answer that there is.
  await (await fetch(server.url + page)).text();
  const before = process.memoryUsage().arrayBuffers;
  await open(100, `GET ${page} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(10));
  await isServed(); // Over a connection that is taken after all of these.
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(100 * 2 ** 20);
  await vi.waitFor(async () => expect(await server.connections()).toBeLessThan(100), 20_000);
  await isServed();
});

it('refuses requests at once of which too many are unanswered on their connection', async () => {
  const held = Promise.withResolvers<void>();
  const create = vi.fn<PlantStore['create']>(async ({ name }) => {
    await held.promise;
    return { name };
  });
  const waiting = await startServer('Postgres', { create });
  const request =
    'POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer test-token\r\n' +
    'Content-Type: application/json\r\nContent-Length: 19\r\n\r\n{"id":1,"name":"x"}';
  const isRefused = () => waiting.log.some((line) => line.includes('have no reply yet'));
  const last = 'GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
  const all = sendRaw(waiting.url, request.repeat(150) + last);
  await vi.waitFor(() => expect(isRefused()).toBe(true));
  await fetch(`${waiting.url}/livez`);
  expect(create).toHaveBeenCalledTimes(100);
  held.resolve();
  const { replies } = await all;
  expect(replies.slice(0, 101).map(({ status }) => status)).toEqual([...Array(100).fill(200), 503]);
  expect(JSON.parse(replies[100]?.body ?? '')).toMatchObject({ error: 50301 });
  expect(replies).toHaveLength(151);
  await waiting.stop();
});

it('refuses connections beyond its bound at once, says so in its log, and takes others later', async () => {
  const first = await open(600);
  const [refused] = await open(1);
  refused?.resume();
  if (refused && !refused.destroyed) await once(refused, 'close');
  const lines = server.log.map((line) => JSON.parse(line));
  expect(lines).toContainEqual(
    expect.objectContaining({ level: 40, msg: 'a connection was rejected: 600 are open' }),
  );
  for (const socket of first) socket.destroy();
  await vi.waitFor(isServed);
});
