import { expect, it } from 'vitest';
import { expectError, expectErrorAt } from '../fixtures/expect-error.ts';
import { sendRaw } from '../fixtures/raw-request.ts';
import { shareServer } from '../fixtures/running-server.ts';

const server = shareServer();

/** Sends a request with its target unchanged. fetch would normalize the target. */
const send = (method: string, target: string) =>
  sendRaw(
    server.url,
    `${method} ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
  );

it.each([
  '/',
  '/plant',
  '/Plants',
  '/PLANTS',
  '//plants',
  '/trpc',
  '/%2fplants',
  '/plants%00',
  '/../plants;x',
  '/plants%2F1',
  '/trpc%2FcreatePlant',
])('responds with 404 to the path %s', async (path) => {
  const { status, body } = await send('POST', path);
  expectErrorAt(path, { status, body: JSON.parse(body) }, 404, 40400);
});

it.each([
  '/plants/',
  '/plants/?limit=1',
  '/plants/1/',
  '/plants//',
  '/trpc/',
  '/trpc/createPlant/',
  '/trpc/createPlant/?batch=1',
])('responds with 404 to the path %s, whatever the method', async (path) => {
  for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS']) {
    const { status, body } = await send(method, path);
    expectErrorAt(path, { status, body: JSON.parse(body) }, 404, 40400);
  }
  expect(await send('HEAD', path)).toMatchObject({ status: 404, body: '' });
});

it.each([
  ['PUT', '/plants', 'GET, HEAD, POST'],
  ['DELETE', '/plants?x=1', 'GET, HEAD, POST'],
  ['OPTIONS', '/plants', 'GET, HEAD, POST'],
  ['PROPFIND', '/plants', 'GET, HEAD, POST'],
  ['TRACE', '/%70lants', 'GET, HEAD, POST'],
  ['POST', '/plants/1', 'DELETE, GET, HEAD'],
  ['POST', '/plants/1%2F2', 'DELETE, GET, HEAD'],
  ['POST', '/livez', 'GET, HEAD'],
  ['POST', '/openapi.json', 'GET, HEAD'],
  ['PUT', '/trpc/createPlant', 'GET, HEAD, POST'],
])('responds with 405 and Allow to %s %s', async (method, path, allow) => {
  const { status, headers, body } = await send(method, path);
  expectErrorAt(path, { status, body: JSON.parse(body) }, 405, 40500);
  expect(headers.get('allow')).toBe(allow);
});

it('accepts a request target in absolute form', async () => {
  expect(await send('GET', 'http://example.com/livez')).toMatchObject({ status: 200 });
});

it.each(['/%zz', '/plants%', '/%ff', '/trpc/%zz', '/trpc/createPlant%ff?batch=1'])(
  'responds with 400 to the malformed path %s',
  async (path) => {
    const { status, body } = await send('POST', path);
    expectErrorAt(path, { status, body: JSON.parse(body) }, 400, 40002);
  },
);

it('keeps a query that ends with a slash', async () => {
  const { status, body } = await send('GET', '/plants/1?x=/');
  expectError({ status, body: JSON.parse(body) }, 401, 40100);
});
