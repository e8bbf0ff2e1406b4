import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  authorization,
  close,
  openSocket,
  rawRequest,
  sendRaw,
} from '../../fixtures/raw-request.ts';
import { shareServer } from '../../fixtures/running-server.ts';

const server = shareServer();

beforeAll(async () => {
  for (let id = 0n; id < 500n; id++)
    await server.store.create({ id, name: `Monstera deliciosa ${id}`, tag: 'Araceae' });
});

const lists = [
  ['REST', '/plants?limit=500'],
  ['tRPC', `/trpc/listPlants?input=${encodeURIComponent('{"json":{"limit":500}}')}`],
  [
    'a batch of tRPC',
    `/trpc/listPlants?batch=1&input=${encodeURIComponent('{"0":{"json":{"limit":500}}}')}`,
  ],
] as const;

/** Sends a request with these headers. Returns the head of the response and the bytes of the body. */
async function send(path: string, headers: string, method = 'GET', body = '') {
  const socket = openSocket(server.url);
  socket.write(
    `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.token}\r\n` +
      `${headers}\r\n${body}`,
  );
  let bytes = Buffer.alloc(0);
  for await (const chunk of socket) {
    bytes = Buffer.concat([bytes, chunk]);
    if (isComplete(bytes, method)) break;
  }
  const end = bytes.indexOf('\r\n\r\n');
  return { head: bytes.subarray(0, end).toString(), body: bytes.subarray(end + 4) };
}

/** Returns whether a response has arrived completely. The connection stays open after the response. */
function isComplete(bytes: Buffer, method: string): boolean {
  const end = bytes.indexOf('\r\n\r\n');
  const head = bytes.subarray(0, Math.max(0, end)).toString();
  if (/^transfer-encoding: chunked/im.test(head)) return bytes.toString().endsWith('\r\n0\r\n\r\n');
  const length = method === 'HEAD' ? 0 : Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
  return end >= 0 && bytes.length >= end + 4 + length;
}

describe.each(lists)('a list over %s', (_name, path) => {
  it.each([
    ['gzip, deflate, br', 'br', brotliDecompressSync],
    ['GZIP', 'gzip', gunzipSync],
    ['br;q=0.5, gzip;q=0.8', 'gzip', gunzipSync],
    ['br;q=0, gzip', 'gzip', gunzipSync],
  ] as const)(
    'is compressed for Accept-Encoding: %s with the coding %s',
    async (accepted, coding, expand) => {
      const plain = await send(path, '');
      const { head, body } = await send(path, `Accept-Encoding: ${accepted}\r\n`);
      expect(head).toMatch(new RegExp(`^content-encoding: ${coding}\\r$`, 'mi'));
      expect(head).toMatch(new RegExp(`^content-length: ${body.length}\\r$`, 'mi'));
      expect(body.length).toBeLessThan(plain.body.length / 6);
      expect(expand(body).equals(plain.body)).toBe(true);
    },
  );

  it.each([
    '',
    'Accept-Encoding: gzip\r\nConnection: close\r\n',
    'Accept-Encoding: identity\r\n',
    'Accept-Encoding: gzip;q=0, *\r\n',
  ])('is not compressed for a client that sends %j', async (header) => {
    const { head } = await send(path, header);
    expect(head).toMatch(/^vary: .*Accept-Encoding\b/im);
    expect(head).not.toMatch(/^content-encoding:/im);
  });

  it('has the same coding and length in the response to HEAD', async () => {
    const get = await send(path, 'Accept-Encoding: gzip\r\n');
    const head = await send(path, 'Accept-Encoding: gzip\r\n', 'HEAD');
    const contentHeaders = (text: string) => text.match(/^content-.*$/gim)?.toSorted();
    expect(contentHeaders(head.head)).toEqual(contentHeaders(get.head));
    expect(contentHeaders(head.head)).toContain('content-encoding: gzip');
    expect(head.body.length).toBe(0);
  });
});

it('does not compress the response to a create', async () => {
  const json = '{"id":1000,"name":"x"}';
  const headers = `Accept-Encoding: gzip\r\nContent-Type: application/json\r\nContent-Length: ${json.length}\r\n`;
  const { head, body } = await send('/plants', headers, 'POST', json);
  expect(body.toString()).toBe('{"name":"x"}');
  expect(head).not.toMatch(/^(content-encoding|vary):/im);
});

it('does not compress the stream of httpBatchStreamLink', async () => {
  const [, , [, path]] = lists;
  const headers = 'Accept-Encoding: gzip\r\ntrpc-accept: application/jsonl\r\n';
  const { head, body } = await send(path, headers);
  expect(head).toMatch(/^transfer-encoding: chunked\r?$/im);
  expect(head).not.toMatch(/^content-encoding:/im);
  expect(body.toString()).toContain('Monstera deliciosa 499');
});

it('responds to the requests of a connection in order, with and without compression', async () => {
  const get = (path: string, ...headers: string[]) =>
    rawRequest(`GET ${path}`, [authorization, ...headers]);
  const [br, last] = [get('/plants/8', 'Accept-Encoding: br'), get('/plants/9', close)];
  const { responses } = await sendRaw(server.url, get('/plants/7') + br + last);
  expect(responses.map(({ body }) => JSON.parse(body).id)).toEqual([7, 8, 9]);
});

it.each(['/docs/js/scalar.js', '/openapi.json'])(
  'compresses %s, and accepts the ETag of the compressed response',
  async (path) => {
    const { head, body } = await send(path, 'Accept-Encoding: gzip\r\n');
    const plain = await send(path, '');
    expect(gunzipSync(body).equals(plain.body)).toBe(true);
    const tag = /^etag: (.*)\r$/im.exec(head)?.[1];
    expect(tag).toMatch(/^W\//);
    for (const accepted of ['', 'Accept-Encoding: gzip\r\n']) {
      const again = await send(path, `${accepted}If-None-Match: ${tag}\r\n`);
      expect(again.head).toMatch(/^HTTP\/1\.1 304 /);
      expect(again.body.length).toBe(0);
    }
  },
);
