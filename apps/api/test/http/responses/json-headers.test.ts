import { expect, it } from 'vitest';
import { sendRaw } from '../../fixtures/raw-request.ts';
import { shareServer } from '../../fixtures/running-server.ts';

const server = shareServer();

const head = 'Host: x\r\nConnection: close\r\nAuthorization: Bearer test-token\r\n';
const input = encodeURIComponent('{"0":{"json":{}}}');

it.each([
  ['a list', `GET /plants HTTP/1.1\r\n${head}\r\n`, 200],
  ['an error over REST', `GET /plants/5 HTTP/1.1\r\n${head}\r\n`, 404],
  ['a list over tRPC', `GET /trpc/listPlants HTTP/1.1\r\n${head}\r\n`, 200],
  ['an error over tRPC', `GET /trpc/getPlant HTTP/1.1\r\n${head}\r\n`, 400],
  ['a batch', `GET /trpc/listPlants?batch=1&input=${input} HTTP/1.1\r\n${head}\r\n`, 200],
  [
    'a stream',
    `GET /trpc/listPlants?batch=1&input=${input} HTTP/1.1\r\ntrpc-accept: application/jsonl\r\n${head}\r\n`,
    200,
  ],
  [
    'a request without a token',
    'GET /whoami HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    401,
  ],
  ['the health of the process', `GET /livez HTTP/1.1\r\n${head}\r\n`, 200],
  ['a path that is not well-formed', `GET /%ff HTTP/1.1\r\n${head}\r\n`, 400],
  ['bytes that are not HTTP', 'what is this?\r\n\r\n', 400],
])('forbids clients to cache the response or to guess its type: %s', async (_, bytes, status) => {
  const response = await sendRaw(server.url, bytes);
  expect(response.status).toBe(status);
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(response.headers.get('x-content-type-options')).toBe('nosniff');
});
