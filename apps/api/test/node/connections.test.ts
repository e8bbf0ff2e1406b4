import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { PlantStore } from '@plant-store/core';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { sendRaw } from '../fixtures/raw-request.ts';
import { type ServerOnStore, shareStore } from '../fixtures/running-server.ts';
import { post } from '../fixtures/surfaces.ts';

const startOnStore = shareStore();
let server: ServerOnStore;
let sockets: Socket[];

beforeEach(async () => {
  sockets = [];
  server = await startOnStore({ maxConnections: 600 });
});

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await server.stop();
});

/** Opens connections and sends the same text on each. The responses are left unread. */
async function open(count: number, text = ''): Promise<Socket[]> {
  const port = Number(new URL(server.url).port);
  const opened = Array.from({ length: count }, () => connect(port, '127.0.0.1'));
  for (const socket of opened) socket.on('error', () => {}).pause();
  sockets.push(...opened);
  await Promise.all(opened.map((socket) => once(socket, 'connect')));
  for (const socket of opened) socket.write(text);
  return opened;
}

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** The memory of this process after a garbage collection, so that two values can be compared. */
function usedMemory(): NodeJS.MemoryUsage {
  collectGarbage();
  return process.memoryUsage();
}

/**
 * The header keeps fetch from using a connection again that the server may close at that moment.
 */
const alone = { connection: 'close' };
const expectService = async () =>
  expect((await post(server, '/plants', '{"id":1,"name":"x"}', alone)).status).toBe(200);

it.each([
  ['nothing', ''],
  ['a part of the headers', 'POST /plants HTTP/1.1\r\nHost: x\r\n'],
  [
    'a part of the body',
    'POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer test-token\r\n' +
      'Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{"id":',
  ],
])(
  'closes connections on which clients send %s, and serves other clients meanwhile',
  async (_what, text) => {
    const opened = await open(500, text);
    await expectService();
    const closed = opened.map((socket) => once(socket.resume(), 'close'));
    await server.requestsTimeOut(Promise.all(closed));
    await expectService();
  },
);

it('closes connections whose responses nobody reads, and serves other clients meanwhile', async () => {
  const page = '/docs/js/scalar.js'; // The largest response of the server.
  await (await fetch(server.url + page, { headers: alone })).text();
  const before = usedMemory();
  await open(100, `GET ${page} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(10));
  await expectService(); // The server accepts this connection after the others.
  expect(usedMemory().arrayBuffers - before.arrayBuffers).toBeLessThan(100 * 2 ** 20);
  server.connectionsTimeOut();
  await vi.waitFor(async () => expect(await server.connections()).toBe(0));
  await expectService();
});

it('closes connections whose clients read a byte at a time, and serves other clients meanwhile', async () => {
  const page = '/openapi.json';
  const { length } = await (await fetch(server.url + page, { headers: alone })).text();
  const before = usedMemory();
  const requests = Math.ceil(2 ** 25 / length); // Their responses fill the buffers of the system.
  const readers = await open(20, `GET ${page} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(requests));
  const reading = setInterval(() => readers.forEach((socket) => void socket.read(1)), 20);
  onTestFinished(() => clearInterval(reading));
  await expectService();
  const { arrayBuffers, heapUsed } = usedMemory();
  expect(arrayBuffers - before.arrayBuffers).toBeLessThan(50 * 2 ** 20);
  expect(heapUsed - before.heapUsed).toBeLessThan(100 * 2 ** 20);
  server.connectionsTimeOut();
  await vi.waitFor(async () => expect(await server.connections()).toBe(0));
  await expectService();
});

it('rejects a further request on a connection with 100 pending requests, and closes the connection', async () => {
  const held = Promise.withResolvers<void>();
  const create = vi.fn<PlantStore['create']>(async ({ name }) => {
    await held.promise;
    return { name };
  });
  const waiting = await startOnStore({ create });
  const request =
    'POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer test-token\r\n' +
    'Content-Type: application/json\r\nContent-Length: 19\r\n\r\n{"id":1,"name":"x"}';
  const isRejected = () => waiting.log.some((line) => line.includes('have no response yet'));
  const last = 'GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
  const all = sendRaw(waiting.url, request.repeat(150) + last);
  await vi.waitFor(() => expect(isRejected()).toBe(true));
  await fetch(`${waiting.url}/livez`);
  expect(create).toHaveBeenCalledTimes(100);
  held.resolve();
  const { responses } = await all;
  expect(responses.slice(0, 101).map(({ status }) => status)).toEqual([
    ...Array(100).fill(200),
    503,
  ]);
  expect(JSON.parse(responses[100]?.body ?? '')).toMatchObject({ error: 50301 });
  expect(responses).toHaveLength(101);
  expect(responses[100]?.headers.get('connection')).toBe('close');
  await waiting.stop();
});

it('closes and logs connections over its limit at once, and accepts new connections later', async () => {
  const first = await open(600);
  const [rejected] = await open(1);
  rejected?.resume();
  if (rejected && !rejected.destroyed) await once(rejected, 'close');
  const lines = server.log.map((line) => JSON.parse(line));
  expect(lines).toContainEqual(
    expect.objectContaining({ level: 40, msg: 'a connection was rejected: 600 are open' }),
  );
  for (const socket of first) socket.destroy();
  await vi.waitFor(expectService);
});
