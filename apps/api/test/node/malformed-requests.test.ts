import { expect, it } from 'vitest';
import { expectErrorAt } from '../fixtures/expect-error.ts';
import {
  authorization,
  close,
  contentType,
  rawPost,
  rawRequest,
  sendRaw,
} from '../fixtures/raw-request.ts';
import { shareServer, startServerOn } from '../fixtures/running-server.ts';

const server = shareServer();

const long = 'a'.repeat(20_000);
const create = (...headers: string[]) => rawRequest('POST /trpc/createPlant', headers);
const chunked = [authorization, contentType, 'Transfer-Encoding: chunked'];

it.each([
  ['/', 'bytes that are not HTTP', 'hello\r\n\r\n', 40002],
  ['/', 'a request without Host', `GET /livez HTTP/1.1\r\n${close}\r\n\r\n`, 40002],
  ['/', 'two Host headers', rawRequest('GET /livez', ['host: y', close]), 40002],
  ['/', 'an invalid header', rawRequest('GET /', ['A b: c']), 40002],
  ['/trpc', 'a long query', rawRequest(`GET /trpc/getPlant?input=${long}`), 43100],
  ['/trpc', 'a long path', rawRequest(`GET /trpc/${long}`), 43100],
  ['/trpc', 'long headers', create(`A: ${long}`), 43100],
  ['/trpc', 'a long absolute target', rawRequest(`GET http://x/trpc/a?input=${long}`), 43100],
  ['/trpc', 'a long encoded target', rawRequest(`GET /%74rpc/getPlant?input=${long}`), 43100],
  ['/trpc', 'an invalid header', create('A b: c'), 40002],
  ['/trpc', 'an unknown method', rawRequest('BREW /trpc/createPlant'), 50100],
  ['/trpc', 'no Host', `POST /trpc/createPlant HTTP/1.1\r\n${close}\r\n\r\n`, 40002],
  ['/trpc', 'an invalid Host', create(close).replace('Host: x', 'Host: a b'), 40002],
  ['/trpc', 'an unknown expectation', create('Expect: cake', close), 41700],
  ['/trpc', 'an invalid chunk', `${create(...chunked)}xyz\r\n`, 40002],
])('sends an error in the form of the path %s after %s', async (target, _what, bytes, code) => {
  const { status, headers, body } = await sendRaw(server.url, bytes);
  expectErrorAt(target, { status, body: JSON.parse(body) }, Math.floor(code / 100), code);
  expect(headers.get('content-type')).toBe('application/json');
});

it('responds with 400 when the bytes after a body are not a request, and the message names no method', async () => {
  const request = rawPost('{"id":1,"name":"x"}');
  for (const rest of ['{"id":1}\r\nPOST / HTTP/1.1\r\n', '{"id":1}POST / HTTP/1.1\r\n']) {
    const { responses } = await sendRaw(server.url, `${request}${rest}Host: x\r\n\r\n`);
    expect(responses.map(({ status }) => status)).toEqual([200, 400]);
    expect(JSON.parse(responses[1]?.body ?? '')).toEqual({
      error: 40002,
      message: 'the request is not well-formed HTTP/1.1: check the client',
    });
  }
});

it.each([
  ['headers', '/plants', 'POST /plants HTTP/1.1\r\nHost: x\r\n'],
  ['a body over REST', '/plants', rawPost('{"id":1}').slice(0, -1)],
  [
    'a body over tRPC',
    '/trpc/createPlant',
    rawPost('{"json":1}', '/trpc/createPlant').slice(0, -1),
  ],
])('responds with 408 when a client does not send all of %s in time', async (_, target, bytes) => {
  const impatient = await startServerOn(server.store, { requestTimeout: 100 });
  const { status, body } = await sendRaw(impatient.url, bytes);
  expectErrorAt(target, { status, body: JSON.parse(body) }, 408, 40800);
  await impatient.stop();
});

it.each(['/plants', '/trpc/getPlant'])(
  'sends no body in the response to a HEAD request for %s that Node rejects',
  async (path) => {
    const request = (method: string) =>
      sendRaw(server.url, rawRequest(`${method} ${path}?tag=${long}`));
    const [get, head] = [await request('GET'), await request('HEAD')];
    expect(head).toMatchObject({ status: 431, body: '' });
    expect(head.text).toMatch(/\r\n\r\n$/);
    expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(get.body)));
  },
);
