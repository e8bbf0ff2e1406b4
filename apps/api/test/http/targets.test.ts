import { beforeAll, expect, it } from 'vitest';
import { sendRaw } from '../fixtures/raw-request.ts';
import { shareServer } from '../fixtures/running-server.ts';

const server = shareServer();

beforeAll(async () => {
  await server.store.create({ id: -5n, name: 'Hoya' });
});

const send = (method: string, target: string, headers = '') =>
  sendRaw(
    server.url,
    `${method} ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}\r\n`,
  );

it('responds to OPTIONS * with the methods of the server', async () => {
  const { status, headers, body } = await send('OPTIONS', '*');
  expect([status, body]).toEqual([204, '']);
  expect(headers.get('allow')).toBe('DELETE, GET, HEAD, OPTIONS, POST');
});

it.each([
  ['GET', '*', 'the request target * does not start with /'],
  ['GET', 'ftp://x/livez', 'the request target ftp://x/livez does not start with /'],
  ['POST', '/plants%zz', 'the path /plants%zz is not percent-encoded UTF-8'],
  ['POST', '/plants%ff?x=%zz', 'the path /plants%ff is not percent-encoded UTF-8'],
])('responds with 400 to %s %s', async (method, target, message) => {
  const { body } = await send(method, target);
  expect(JSON.parse(body)).toEqual({ error: 40002, message });
});

it.each([
  '/',
  '/livez',
  '/readyz',
  '/docs',
  '/docs/',
  '/docs/errors',
  '/docs/nowhere',
  '/docs/js/scalar.js',
  '/openapi.json',
  '/favicon.ico',
  '/plants',
  '/plants/-5',
  '/plants/1',
  '/plants/x',
  '/plants/changes',
  '/plants%zz',
  '/trpc',
  '/trpc/createPlant',
  '/trpc/nothing?batch=1',
])('responds to HEAD at %s as to GET, but without the body', async (path) => {
  for (const headers of ['', 'Authorization: Bearer test-token\r\n']) {
    const get = await send('GET', path, headers);
    const head = await send('HEAD', path, headers);
    expect(head.body).toBe('');
    expect(head.status).toBe(get.status);
    const lengths = [get, head].map((response) => response.headers.get('content-length'));
    expect(lengths).toEqual(Array(2).fill(String(Buffer.byteLength(get.body))));
  }
});
