import { expect, it } from 'vitest';
import { authorization, close, rawRequest, sendRaw } from '../../fixtures/raw-request.ts';
import { shareServer } from '../../fixtures/running-server.ts';

const server = shareServer();

const get = (path: string, ...headers: string[]) => rawRequest(`GET ${path}`, [close, ...headers]);
const batch = `/trpc/listPlants?batch=1&input=${encodeURIComponent('{"0":{"json":{}}}')}`;

it.each([
  ['a list', get('/plants', authorization), 200],
  ['an error over REST', get('/plants/5', authorization), 404],
  ['a list over tRPC', get('/trpc/listPlants', authorization), 200],
  ['an error over tRPC', get('/trpc/getPlant', authorization), 400],
  ['a batch', get(batch, authorization), 200],
  ['a stream', get(batch, authorization, 'trpc-accept: application/jsonl'), 200],
  ['an error for a missing token', get('/whoami'), 401],
  ['the health of the process', get('/livez'), 200],
  ['an error for a malformed path', get('/%ff'), 400],
  ['an error for bytes that are not HTTP', 'what is this?\r\n\r\n', 400],
])('forbids clients to cache %s, and to guess the content type', async (_, bytes, status) => {
  const response = await sendRaw(server.url, bytes);
  expect(response.status).toBe(status);
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(response.headers.get('x-content-type-options')).toBe('nosniff');
});
