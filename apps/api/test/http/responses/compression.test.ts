import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  authorization,
  close,
  contentType,
  lastRequest,
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

/** Sends a request, and then a request that closes the connection. Returns the first response. */
async function send(path: string, headers: readonly string[] = [], method = 'GET', body?: string) {
  const request = rawRequest(`${method} ${path}`, [authorization, ...headers], body);
  return sendRaw(server.url, request + lastRequest);
}

describe.each(lists)('a list of plants over %s', (_name, path) => {
  it.each([
    ['gzip, deflate, br', 'br', brotliDecompressSync],
    ['GZIP', 'gzip', gunzipSync],
    ['br;q=0.5, gzip;q=0.8', 'gzip', gunzipSync],
    ['br;q=0, gzip', 'gzip', gunzipSync],
  ] as const)(
    'when a client sends Accept-Encoding: %s, the list has the coding %s',
    async (accepted, coding, expand) => {
      const plain = await send(path);
      const { headers, bytes } = await send(path, [`Accept-Encoding: ${accepted}`]);
      expect(headers.get('content-encoding')).toBe(coding);
      expect(bytes.length).toBeLessThan(plain.bytes.length / 6);
      expect(expand(bytes).equals(plain.bytes)).toBe(true);
    },
  );

  it.each([
    { sent: [] },
    { sent: ['Accept-Encoding: gzip', close] },
    { sent: ['Accept-Encoding: identity'] },
    { sent: ['Accept-Encoding: gzip;q=0, *'] },
  ])('sends the list uncompressed to a client that sends $sent', async ({ sent }) => {
    const { headers } = await send(path, sent);
    expect(headers.get('vary')).toMatch(/Accept-Encoding\b/);
    expect(headers.has('content-encoding')).toBe(false);
  });

  it('the responses to HEAD and GET have equal codings and lengths', async () => {
    const get = await send(path, ['Accept-Encoding: gzip']);
    const head = await send(path, ['Accept-Encoding: gzip'], 'HEAD');
    for (const name of ['content-encoding', 'content-length', 'content-type']) {
      expect(head.headers.get(name)).toBe(get.headers.get(name));
    }
    expect(head.headers.get('content-encoding')).toBe('gzip');
    // The response to HEAD has no body, so the next response follows immediately.
    expect(head.body).toMatch(/^HTTP\/1\.1 200 /);
  });
});

it('does not compress the response to a create', async () => {
  const accept = ['Accept-Encoding: gzip', contentType];
  const { headers, body } = await send('/plants', accept, 'POST', '{"id":1000,"name":"x"}');
  expect(body).toBe('{"name":"x"}');
  expect([headers.has('content-encoding'), headers.has('vary')]).toEqual([false, false]);
});

it('does not compress the stream of httpBatchStreamLink', async () => {
  const [, , [, path]] = lists;
  const accept = ['Accept-Encoding: gzip', 'trpc-accept: application/jsonl'];
  const { headers, body } = await send(path, accept);
  expect(headers.get('transfer-encoding')).toBe('chunked');
  expect(headers.has('content-encoding')).toBe(false);
  expect(body).toContain('Monstera deliciosa 499');
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
    const { headers, bytes } = await send(path, ['Accept-Encoding: gzip']);
    const plain = await send(path);
    expect(gunzipSync(bytes).equals(plain.bytes)).toBe(true);
    const tag = headers.get('etag');
    expect(tag).toMatch(/^W\//);
    for (const accepted of [[], ['Accept-Encoding: gzip']]) {
      const again = await send(path, [...accepted, `If-None-Match: ${tag}`]);
      expect(again).toMatchObject({ status: 304, body: '' });
    }
  },
);
