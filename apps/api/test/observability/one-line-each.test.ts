import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { PlantStore } from '@plant-store/core';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createMetrics } from '../../src/observability/metrics.ts';
import { readPrometheusText } from '../fixtures/prometheus-text.ts';
import { sendRaw } from '../fixtures/raw-request.ts';
import { type RunningServer, startServer } from '../fixtures/running-server.ts';

const json = '{"id":1,"name":"x"}';
const headOf = (path: string, more = '') =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nX-Request-Id: mine\r\nAuthorization: Bearer test-token\r\n` +
  `Content-Type: application/json\r\n${more}`;
const whole = `${headOf('/plants', `Content-Length: ${json.length}\r\n\r\n`)}${json}`;

let server: RunningServer;
/** Called for each create, which then waits for what it is given. */
let create: ReturnType<typeof vi.fn<PlantStore['create']>>;
let held: PromiseWithResolvers<{ name: string }>;

beforeEach(async () => {
  held = Promise.withResolvers();
  create = vi.fn(() => held.promise);
  server = await startServer('Postgres', { create, requestTimeout: 500 });
});

afterEach(() => server.stop());

const lines = () => server.log.map((line) => JSON.parse(line));
const requestLines = () => lines().filter(({ msg }) => msg === 'request' || msg === 'rejected');

/** Sends bytes on a socket of its own and leaves what comes back unread. */
async function send(bytes: string): Promise<Socket> {
  const socket = connect({ port: Number(new URL(server.url).port), host: '127.0.0.1' });
  socket.on('error', () => {}).pause();
  await once(socket, 'connect');
  socket.write(bytes);
  return socket;
}

it.each([
  ['is not sent in time', headOf('/plants', 'Content-Length: 99\r\n\r\n{"id":'), 408, 40800],
  ['has a broken chunk', headOf('/plants', 'Transfer-Encoding: chunked\r\n\r\nzz\r\n'), 400, 40002],
  [
    'over tRPC is not sent in time',
    headOf('/trpc/createPlant', 'Content-Length: 99\r\n\r\n{'),
    408,
    40800,
  ],
])(
  'has one line, with the id that the answer has, for a request whose body %s',
  async (_what, bytes, status, error) => {
    const reply = await sendRaw(server.url, bytes);
    expect(reply).toMatchObject({ status });
    expect(reply.headers.get('x-request-id')).toBe('mine');
    const line = { reqId: 'mine', status, errors: [error], method: 'POST', principal: 'tester' };
    await expect.poll(requestLines).toMatchObject([line]);
  },
);

it.each([
  ['within its body', headOf('/plants', 'Content-Length: 99\r\nExpect: 100-continue\r\n\r\n')],
  ['while its plant is written', whole],
  [
    'while its plant is written, over a stream of tRPC',
    `${headOf('/trpc/createPlant?batch=1', `trpc-accept: application/jsonl\r\nContent-Length: ${json.length + 15}\r\n\r\n`)}{"0":{"json":${json}}}`,
  ],
])('has one line for a client that leaves %s', async (_what, bytes) => {
  const socket = await send(bytes);
  if (bytes.includes('Expect')) await once(socket.resume(), 'data');
  else await vi.waitFor(() => expect(create).toHaveBeenCalled());
  socket.resetAndDestroy();
  const line = { reqId: 'mine', status: 499, ip: '127.0.0.1', principal: 'tester' };
  await expect.poll(requestLines).toMatchObject([line]);
  held.resolve({ name: 'x' });
  await fetch(`${server.url}/livez`);
  expect(lines().filter(({ reqId }) => reqId === 'mine')).toHaveLength(1);
});

it('counts what goes wrong after the client has left', async () => {
  const metrics = createMetrics(server.store);
  const counting = await startServer('Postgres', { create, metrics });
  const socket = connect({ port: Number(new URL(counting.url).port), host: '127.0.0.1' });
  socket.write(whole);
  await vi.waitFor(() => expect(create).toHaveBeenCalled());
  socket.destroy();
  await vi.waitFor(() => expect(counting.log.join()).toContain('"status":499'));
  held.reject(new TypeError('a bug'));
  const bugs = async () =>
    readPrometheusText(await metrics.text()).value('plant_store_errors_total{error="50000"}');
  await expect.poll(bugs).toBe(1);
  await counting.stop();
});

it('lives on when a client is gone that asked for a tunnel behind a create', async () => {
  const socket = await send(`${whole}CONNECT a:1 HTTP/1.1\r\nHost: x\r\n\r\n`);
  await vi.waitFor(() => expect(create).toHaveBeenCalled());
  socket.resetAndDestroy();
  held.resolve({ name: 'x' });
  await vi.waitFor(async () => expect(await server.connections()).toBe(0));
  expect((await fetch(`${server.url}/livez`)).status).toBe(200);
});

it('lets go of clients that asked for a tunnel, though they stay', async () => {
  const port = Number(new URL(server.url).port);
  const stays = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  stays.write('CONNECT a:1 HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(stays.resume(), 'end');
  await vi.waitFor(async () => expect(await server.connections()).toBe(0));
  stays.destroy();
});

it('answers garbage behind a create once, however many pieces it comes in', async () => {
  const warned = vi.fn();
  process.on('warning', warned);
  const socket = await send(whole);
  await vi.waitFor(() => expect(create).toHaveBeenCalled());
  for (let i = 0; i < 20; i++) {
    socket.write('garbage');
    await fetch(`${server.url}/livez`);
  }
  let text = '';
  socket.on('data', (chunk) => (text += chunk)).resume();
  held.resolve({ name: 'x' });
  await once(socket, 'close');
  expect(text.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
  process.off('warning', warned);
  expect(warned).not.toHaveBeenCalled();
});
