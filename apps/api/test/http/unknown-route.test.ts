import { expect, it } from 'vitest';
import { expectError, expectErrorAt } from '../fixtures/expect-error.ts';
import { authorization, close, rawRequest, sendRaw } from '../fixtures/raw-request.ts';
import { shareServer } from '../fixtures/running-server.ts';

const server = shareServer();

/** Sends a request with this target. The function does not use fetch, because fetch changes targets. */
async function send(method: string, target: string) {
  const request = rawRequest(`${method} ${target}`, [close], '');
  const { body, ...response } = await sendRaw(server.url, request);
  return { ...response, body: body === '' ? '' : JSON.parse(body) };
}

it.each([
  ...['/', '/plant', '/Plants', '/PLANTS', '//plants', '/trpc', '/%2fplants', '/plants%00'],
  ...['/../plants;x', '/plants%2F1', '/trpc%2FcreatePlant'],
])('responds with 404 to the path %s', async (path) => {
  expectErrorAt(path, await send('POST', path), 404, 40400);
});

it.each([
  ...['/plants/', '/plants/?limit=1', '/plants/1/', '/plants//', '/trpc/', '/trpc/createPlant/'],
  '/trpc/createPlant/?batch=1',
])('responds with 404 to the path %s for every method', async (path) => {
  for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS']) {
    expectErrorAt(path, await send(method, path), 404, 40400);
  }
  expect(await send('HEAD', path)).toMatchObject({ status: 404, body: '' });
});

it.each([
  ['DELETE', '/plants?x=1', 'GET, HEAD, POST'],
  ['OPTIONS', '/plants', 'GET, HEAD, POST'],
  ['PROPFIND', '/plants', 'GET, HEAD, POST'],
  ['TRACE', '/%70lants', 'GET, HEAD, POST'],
  ['POST', '/plants/1', 'DELETE, GET, HEAD'],
  ['POST', '/plants/1%2F2', 'DELETE, GET, HEAD'],
  ['PUT', '/plants/batch', 'DELETE, GET, HEAD, POST'],
  ['PUT', '/plants/count', 'DELETE, GET, HEAD'],
  ['PUT', '/plants/changes', 'DELETE, GET, HEAD'],
  ['PUT', '/whoami', 'GET, HEAD'],
  ['POST', '/livez', 'GET, HEAD'],
  ['POST', '/openapi.json', 'GET, HEAD'],
  ['PUT', '/trpc/createPlant', 'GET, HEAD, POST'],
])('responds with 405 and Allow to %s %s', async (method, path, allow) => {
  const response = await send(method, path);
  expectErrorAt(path, response, 405, 40500);
  expect(response.headers.get('allow')).toBe(allow);
});

it('responds to OPTIONS * with the methods of the server', async () => {
  const { status, headers, body } = await send('OPTIONS', '*');
  expect([status, body]).toEqual([204, '']);
  expect(headers.get('allow')).toBe('DELETE, GET, HEAD, OPTIONS, POST');
});

it('accepts a request target in absolute form', async () => {
  expect(await send('GET', 'http://example.com/livez')).toMatchObject({ status: 200 });
});

it.each([
  ['GET', '*', 'the request target * does not start with /'],
  ['GET', 'ftp://x/livez', 'the request target ftp://x/livez does not start with /'],
  ['POST', '/plants%zz', 'the path /plants%zz is not percent-encoded UTF-8'],
  ['GET', '/livez#x', 'the request target /livez#x contains #: send %23 (RFC 9112 §3.2)'],
  ['POST', '/plants%ff?x=%zz', 'the path /plants%ff is not percent-encoded UTF-8'],
])('responds to %s %s with the error: %s', async (method, target, message) => {
  expect((await send(method, target)).body).toEqual({ error: 40002, message });
});

it.each([
  ...['/%zz', '/plants%', '/%ff', '/trpc/%zz', '/trpc/createPlant%ff?batch=1'],
  ...['/plants/#x', '/plants#%zz', '/trpc/#x', 'http://x/%zz'],
  ...['http://user@x/livez', 'http:///livez', 'http://a b/livez', 'https://x:99999/livez'],
])('responds with 400 to the malformed target %s', async (target) => {
  expectErrorAt(target, await send('POST', target), 400, 40002);
});

it('accepts a query that ends with a slash', async () => {
  expectError(await send('GET', '/plants/1?x=/'), 401, 40100);
});

it.each([
  ...['/', '/livez', '/readyz', '/docs', '/docs/', '/docs/errors', '/docs/nowhere'],
  ...['/docs/js/scalar.js', '/openapi.json', '/favicon.ico', '/plants', '/plants/-5', '/plants/1'],
  ...['/plants/x', '/plants/changes', '/plants%zz', '/trpc', '/trpc/createPlant'],
  '/trpc/nothing?batch=1',
])('responds to HEAD %s as to GET, but without the body', async (path) => {
  await server.store.create({ id: -5n, name: 'Hoya' });
  for (const headers of [[], [authorization]]) {
    const request = (method: string) => rawRequest(`${method} ${path}`, [close, ...headers]);
    const [get, head] = await Promise.all(
      ['GET', 'HEAD'].map((method) => sendRaw(server.url, request(method))),
    );
    expect(head).toMatchObject({ status: get?.status, body: '' });
    const lengths = [get, head].map((response) => response?.headers.get('content-length'));
    expect(lengths).toEqual(Array(2).fill(String(Buffer.byteLength(get?.body ?? ''))));
  }
});
