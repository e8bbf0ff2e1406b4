import { once } from 'node:events';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { holdCreates } from '../../fixtures/held-create.ts';
import {
  authorization,
  contentType,
  lastRequest,
  openSocket,
  rawPost,
  rawRequest,
  sendRaw,
} from '../../fixtures/raw-request.ts';
import { type ServerOnStore, shareStore } from '../../fixtures/running-server.ts';
import { post, surfaces } from '../../fixtures/surfaces.ts';

const size = 100_000;
const startOnStore = shareStore();
let server: ServerOnStore;

// Large bodies may fill only a quarter of the budget. A budget of six bodies therefore has space for only one
// large body at a time.
beforeEach(async () => {
  server = await startOnStore({ memoryBudget: 6 * size });
});

afterEach(() => server.stop());

const head = (path: string, ...headers: string[]) =>
  rawRequest(`POST ${path}`, [authorization, contentType, ...headers]);
const withLength = `Content-Length: ${size}`;
const chunked = 'Transfer-Encoding: chunked';
const chunk = `${size.toString(16)}\r\n${' '.repeat(size)}\r\n`;

const large = `{"id":2,"name":"${'x'.repeat(size - 18)}"}`;
const expectSpace = async () => expect((await post(server, '/plants', large)).status).toBe(200);

/** Sends the beginning of a request, and waits until the server has counted the body. */
async function begin(bytes: string): Promise<Socket> {
  const socket = openSocket(server.url);
  socket.write(bytes);
  await vi.waitFor(async () => expect((await post(server, '/plants', large)).status).toBe(503));
  return socket;
}

describe.each(surfaces)('over $name', ({ path, send }) => {
  it.each([
    ['with a length', withLength, ''],
    ['in chunks', chunked, chunk],
  ])(
    'responds with 50301 to a large body %s while other bodies fill the memory',
    async (_how, framing, body) => {
      const first = await begin(head(path, framing) + body);
      const { responses } = await sendRaw(
        server.url,
        head(path, framing) +
          (body ? `${body.repeat(30)}0\r\n\r\n` : ' '.repeat(size)) +
          lastRequest,
      );
      expect(responses.map(({ status }) => status)).toEqual([503, 200]);
      expect(responses[0]?.body).toContain('"error":50301,');
      expect(responses[0]?.headers.get('retry-after')).toBe('1');
      expect(responses[0]?.headers.get('connection')).not.toBe('close');
      expect((await send(server, '{"id":1,"name":"x"}')).status).toBe(200);
      first.destroy();
      await vi.waitFor(expectSpace);
    },
  );

  it.each([
    ['is not JSON', `${head(path, withLength)}${' '.repeat(size)}`],
    ['is malformed', `${head(path, chunked)}${chunk}zz\r\n`],
  ])('stops counting a body that %s', async (_what, bytes) => {
    await sendRaw(server.url, bytes, { isAll: true });
    await sendRaw(server.url, bytes + lastRequest);
    await expectSpace();
  });

  it.each([
    ['with a length', `${head(path, withLength)}{`],
    ['in chunks', `${head(path, chunked)}${chunk}`],
  ])('stops counting a body %s when the request times out', async (_how, bytes) => {
    await sendRaw(server.url, bytes, { isAll: true });
    const socket = await begin(bytes);
    await server.requestsTimeOut(once(socket.resume(), 'close'));
    await expectSpace();
  });
});

it('responds with 50301 before the client sends the body', async () => {
  const first = await begin(head('/plants', withLength));
  const second = openSocket(server.url);
  second.write(head('/plants', withLength, 'Expect: 100-continue'));
  expect(String(await once(second, 'data'))).toMatch(/^HTTP\/1\.1 503 /);
  second.destroy();
  first.destroy();
});

it('accepts a body that is larger than the budget when there is no other body', async () => {
  const larger = `{"id":3,"name":"${'x'.repeat(4 * size)}"}`;
  expect((await post(server, '/plants', larger)).status).toBe(200);
});

it('counts the memory of the parsed values of a tRPC request until the response', async () => {
  const values = '{},'.repeat(9_000);
  const text = 'x'.repeat(size / 2);
  const body = `{"0":{"json":{"id":4,"name":"${text}","values":[${values}0]}}}`;
  const stream = () =>
    post(server, '/trpc/createPlant?batch=1', body, { 'trpc-accept': 'application/jsonl' });
  expect((await stream()).status).toBe(200);

  const socket = openSocket(server.url);
  socket.write(head('/plants', 'Content-Length: 20000'));
  await vi.waitFor(async () => {
    const response = await stream();
    expect(response.status).toBe(503);
    expect(await response.text()).toContain('"error":50301');
  });
  socket.destroy();
  await vi.waitFor(async () => expect((await stream()).status).toBe(200));
});

describe('a server on which a create waits for the database', () => {
  let held: ReturnType<typeof holdCreates>;

  beforeEach(async () => {
    held = holdCreates();
    await server.stop();
    server = await startOnStore({ memoryBudget: 6 * size, create: held.create });
  });

  it('counts the memory of a body until the store has created the plant, even when the client has disconnected', async () => {
    const first = await begin(rawPost(large));
    await vi.waitFor(() => expect(held.create).toHaveBeenCalled());
    first.resetAndDestroy();
    await vi.waitFor(async () => expect(await server.connections()).toBe(1));
    expect((await post(server, '/plants', large)).status).toBe(503);
    held.release();
    await vi.waitFor(expectSpace);
  });

  it('ignores the rest of a body that arrives after the request has timed out', async () => {
    const socket = openSocket(server.url);
    const received = text(socket);
    // The error response to the second request waits for the response to the first request.
    socket.write(rawPost('{"id":1,"name":"x"}') + rawPost(large).slice(0, -1));
    await vi.waitFor(() => expect(held.create).toHaveBeenCalled());
    const later = openSocket(server.url);
    // The server receives this incomplete request last, so this request also times out last.
    later.write('GET /livez HTTP/1.1\r\n');
    await server.requestsTimeOut(once(later.resume(), 'close'));
    socket.write('}');
    await fetch(`${server.url}/livez`);
    held.release();
    expect((await received).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 408']);
    expect(held.create).toHaveBeenCalledTimes(1);
    await expectSpace();
  });
});
