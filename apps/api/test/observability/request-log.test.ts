import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { PlantStore } from '@plant-store/core';
import { callerDisconnected } from '@plant-store/core/internal';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { createMetrics } from '../../src/observability/metrics.ts';
import { sumMetrics } from '../../src/observability/sum-metrics.ts';
import {
  authorization,
  close,
  contentType,
  openSocket,
  rawPost,
  rawRequest,
  sendRaw,
} from '../fixtures/raw-request.ts';
import { type ServerOnStore, shareStore } from '../fixtures/running-server.ts';
import { post } from '../fixtures/surfaces.ts';

const json = '{"id":1,"name":"x"}';
const id = 'X-Request-Id: mine';
const head = (path: string, ...headers: string[]) =>
  rawRequest(`POST ${path}`, [id, authorization, contentType, ...headers]);
/** Writes the head of a request, which makes the server ask for the body. No test sends the body. */
const beginning = (path = '/plants') => head(path, 'Content-Length: 99', 'Expect: 100-continue');
const createRequest = rawPost(json, '/plants', [id]);

const startOnStore = shareStore();
let server: ServerOnStore;
/** Replaces the store's `create`. Each call waits until `held` is settled. */
let create: ReturnType<typeof vi.fn<PlantStore['create']>>;
let held: PromiseWithResolvers<{ name: string }>;

beforeEach(async () => {
  held = Promise.withResolvers();
  create = vi.fn(() => held.promise);
  server = await startOnStore({ create });
});

afterEach(() => server.stop());

const logged = () => server.log.map((line) => JSON.parse(line));
/** The log line of each of these requests has these properties. */
const line = { reqId: 'mine', method: 'POST', principal: 'tester' };
const requestLines = () => logged().filter(({ msg }) => msg === 'request' || msg === 'rejected');

/** Sends bytes over a new connection, and reads no response. */
async function send(bytes: string, url = server.url): Promise<Socket> {
  const socket = openSocket(url).pause();
  await once(socket, 'connect');
  socket.write(bytes);
  return socket;
}

it('logs the method, path, status, client, principal, scopes and duration of a request', async () => {
  held.resolve({ name: 'x' });
  await post(server, '/plants?x=1', json);
  await expect.poll(requestLines).toEqual([
    {
      level: 30,
      time: expect.any(Number),
      pid: process.pid,
      hostname: expect.any(String),
      reqId: expect.any(String),
      method: 'POST',
      path: '/plants',
      route: '/plants',
      status: 200,
      ip: '127.0.0.1',
      userAgent: 'node',
      principal: 'tester',
      scope: 'plants:create plants:read plants:delete tokens:manage',
      responseTime: expect.any(Number),
      msg: 'request',
    },
  ]);
});

it.each([
  ['over REST', '/plants'],
  ['over tRPC', '/trpc/createPlant'],
])(
  'logs one line for a request %s when the body does not arrive in time',
  async (_surface, path) => {
    const socket = await send(beginning(path));
    await once(socket.resume(), 'data');
    const [[response]] = await server.requestsTimeOut(
      Promise.all([once(socket, 'data'), once(socket, 'close')]),
    );
    expect(String(response)).toMatch(/^HTTP\/1\.1 408 .*\r\nx-request-id: mine\r\n/is);
    await expect.poll(requestLines).toMatchObject([{ ...line, status: 408, errorCode: 40800 }]);
  },
);

it('logs one line with the request ID for a request with a malformed chunk', async () => {
  const bytes = `${head('/plants', 'Transfer-Encoding: chunked')}zz\r\n`;
  const response = await sendRaw(server.url, bytes);
  expect(response).toMatchObject({ status: 400 });
  expect(response.headers.get('x-request-id')).toBe('mine');
  await expect.poll(requestLines).toMatchObject([{ ...line, status: 400, errorCode: 40002 }]);
});

it('logs no warning for a request with an unknown transfer coding', async () => {
  const bytes = `${head('/plants', close, 'Transfer-Encoding: gzip, chunked')}0\r\n\r\n`;
  const { status } = await sendRaw(server.url, bytes);
  expect(status).toBe(501);
  await expect.poll(requestLines).toMatchObject([{ level: 30, status: 501, errorCode: 50100 }]);
  expect(logged().filter(({ level }) => level > 30)).toEqual([]);
});

const batch = `{"0":{"json":${json}}}`;

it.each([
  ['sends the body', '/plants', beginning()],
  ['waits for the response', '/plants', createRequest],
  [
    'waits for a stream of tRPC',
    '/trpc/createPlant',
    rawPost(batch, '/trpc/createPlant?batch=1', [id, 'trpc-accept: application/jsonl']),
  ],
])('logs one line when a client disconnects while the client %s', async (_case, path, bytes) => {
  const socket = await send(bytes);
  if (bytes.includes('Expect')) await once(socket.resume(), 'data');
  else await vi.waitFor(() => expect(create).toHaveBeenCalled());
  socket.resetAndDestroy();
  const disconnected = { ...line, path, status: 499, ip: '127.0.0.1' };
  await expect.poll(requestLines).toMatchObject([disconnected]);
  held.resolve({ name: 'x' });
  await fetch(`${server.url}/livez`);
  expect(logged().filter(({ reqId }) => reqId === 'mine')).toHaveLength(1);
});

it('logs the error 40002 when a client closes the connection before the end of the body', async () => {
  const socket = await send(beginning());
  await once(socket.resume(), 'data');
  socket.destroy();
  await expect.poll(requestLines).toMatchObject([{ level: 30, status: 400, errorCode: 40002 }]);
});

/** Starts a server with metrics, and disconnects during a create. The create waits until `held` is settled. */
async function disconnectDuringCreate() {
  const metrics = createMetrics(server.store);
  const counting = await startOnStore({ create, metrics });
  onTestFinished(counting.stop);
  const socket = await send(createRequest, counting.url);
  await vi.waitFor(() => expect(create).toHaveBeenCalled());
  socket.destroy();
  await vi.waitFor(() => expect(counting.log.join()).toContain('"status":499'));
  return { ...counting, metrics: async () => sumMetrics([await metrics.values()]) };
}

it('logs the error of a create whose client has disconnected, and counts the error in the metrics', async () => {
  const { log, metrics } = await disconnectDuringCreate();
  held.reject(new TypeError('a bug'));
  await expect.poll(metrics).toContain('plant_store_errors_total{code="50000"} 1\n');
  expect(log.join()).toContain('a bug');
});

it('neither logs nor counts an error when the store drops the create of a client that has disconnected', async () => {
  const { url, log, metrics } = await disconnectDuringCreate();
  held.reject(callerDisconnected());
  await fetch(`${url}/livez`);
  expect(await metrics()).not.toMatch(/^plant_store_(database_)?errors_total.* [1-9]/m);
  expect(log.filter((each) => each.includes('"reqId":"mine"'))).toHaveLength(1);
});
