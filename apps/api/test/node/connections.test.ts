import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { nodeServerOptions } from '../../src/connections/node-server-options.ts';
import { holdCreates } from '../fixtures/held-create.ts';
import { lastRequest, openSocket, rawPost, rawRequest, sendRaw } from '../fixtures/raw-request.ts';
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

/** Opens connections, and sends the same text on each connection. Nobody reads the responses. */
async function open(count: number, text = ''): Promise<Socket[]> {
  const opened = Array.from({ length: count }, () => openSocket(server.url).pause());
  sockets.push(...opened);
  await Promise.all(opened.map((socket) => once(socket, 'connect')));
  for (const socket of opened) socket.write(text);
  return opened;
}

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** Collects the garbage, and returns the memory that this process uses. */
function usedMemory(): NodeJS.MemoryUsage {
  collectGarbage();
  return process.memoryUsage();
}

/** With this header, fetch opens a new connection. The server may close an older connection at any time. */
const alone = { connection: 'close' };
const expectService = async () =>
  expect((await post(server, '/plants', '{"id":1,"name":"x"}', alone)).status).toBe(200);

it.each([
  ['nothing', ''],
  ['a part of the headers', 'POST /plants HTTP/1.1\r\nHost: x\r\n'],
  ['a part of the body', rawPost('{"id":1,"name":"x"}').slice(0, -10)],
])('closes connections on which clients send %s, and serves other clients', async (_what, text) => {
  const opened = await open(500, text);
  await expectService();
  const closed = opened.map((socket) => once(socket.resume(), 'close'));
  await server.requestsTimeOut(Promise.all(closed));
  await expectService();
});

// The file scalar.js is the largest response of the server.
it.each([
  { read: 'nothing', page: '/docs/js/scalar.js', count: 100, maxBuffers: 100 * 2 ** 20 },
  { read: 'byte by byte', page: '/openapi.json', count: 20, maxBuffers: 50 * 2 ** 20 },
])('closes connections on which clients read $read, and serves other clients', async (client) => {
  const { read, page, count, maxBuffers } = client;
  const { length } = await (await fetch(server.url + page, { headers: alone })).text();
  const before = usedMemory();
  // The responses together are larger than the buffers of the operating system.
  const readers = await open(count, rawRequest(`GET ${page}`).repeat(Math.ceil(2 ** 25 / length)));
  const readByte = () => readers.forEach((socket) => void socket.read(1));
  const reading = read === 'nothing' ? undefined : setInterval(readByte, 20);
  onTestFinished(() => clearInterval(reading));
  // The response on this new connection shows that the server has accepted all older connections.
  await expectService();
  const { arrayBuffers, heapUsed } = usedMemory();
  expect(arrayBuffers - before.arrayBuffers).toBeLessThan(maxBuffers);
  expect(heapUsed - before.heapUsed).toBeLessThan(100 * 2 ** 20);
  server.connectionsTimeOut();
  await vi.waitFor(async () => expect(await server.connections()).toBe(0));
  await expectService();
});

it('a client that reads nothing loses its connection within the time in docs/maintain.md', async () => {
  const page = await readFile(new URL('../../../../docs/maintain.md', import.meta.url), 'utf8');
  const [, seconds] = /reads nothing for (\d+) s/.exec(page) ?? [];
  // While a client does not read its response, Node waits for twice the `connectionTimeout`.
  expect(2 * Number(nodeServerOptions().connectionTimeout)).toBeLessThan(1_000 * Number(seconds));
});

it('rejects the next request on a connection with 100 pending requests, and closes the connection', async () => {
  const { create, release } = holdCreates();
  const waiting = await startOnStore({ create });
  const request = rawPost('{"id":1,"name":"x"}');
  const isRejected = () => waiting.log.some((line) => line.includes('have no response yet'));
  const all = sendRaw(waiting.url, request.repeat(150) + lastRequest);
  await vi.waitFor(() => expect(isRejected()).toBe(true));
  await fetch(`${waiting.url}/livez`);
  expect(create).toHaveBeenCalledTimes(100);
  release();
  const { responses } = await all;
  expect(responses.map(({ status }) => status)).toEqual([...Array(100).fill(200), 503]);
  expect(JSON.parse(responses[100]?.body ?? '')).toMatchObject({ error: 50301 });
  expect(responses[100]?.headers.get('connection')).toBe('close');
  await waiting.stop();
});

it('closes and logs a connection that exceeds the limit, and accepts connections again later', async () => {
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
