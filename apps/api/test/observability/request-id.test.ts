import { expect, it } from 'vitest';
import { expectError } from '../fixtures/expect-error.ts';
import { rawRequest, sendRaw } from '../fixtures/raw-request.ts';
import { shareServer } from '../fixtures/running-server.ts';
import { post, surfaces } from '../fixtures/surfaces.ts';

const plant = '{"id":1,"name":"x"}';
const uuid = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

const server = shareServer({
  logLevel: 'debug', // The server logs requests for /livez at the level `debug`.
  create: async ({ id }) => {
    if (id === 500n) throw new ReferenceError('something is not defined');
    return { name: 'x' };
  },
});

const linesOf = (id: string) =>
  server.log.map((line) => JSON.parse(line)).filter(({ reqId }) => reqId === id);

it.each(surfaces)(
  'sends a well-formed request ID back over $name in responses with any status',
  async (surface) => {
    for (const [id, json, status] of [
      ['4bf92f3577b34da6a3ce929d0e0e4736', plant, 200],
      ['req_8:a.b/c+d=@e-f', 'not json', 400],
      ['a'.repeat(128), '{"id":500,"name":"x"}', 500],
    ] as const) {
      const response = await surface.send(server, json, { 'x-request-id': id });
      expect(response.status).toBe(status);
      expect(response.headers.get('x-request-id')).toBe(id);
    }
  },
);

it.each(surfaces)(
  'generates a request ID over $name when the ID is missing, is not well-formed, or contains the access token',
  async (surface) => {
    const bad = ['', 'two words', 'a'.repeat(129), '{"level":60}', 'é', `id-${server.token}`];
    // Node joins two request IDs with a comma.
    for (const id of [undefined, ...bad, 'a,b', 'a, b']) {
      const headers: Record<string, string> = id === undefined ? {} : { 'x-request-id': id };
      const response = await surface.send(server, plant, headers);
      expect(response.headers.get('x-request-id')).toMatch(uuid);
    }
  },
);

it.each([
  ['GET', '/livez', 200],
  ['GET', '/docs', 200],
  ['PUT', '/plants', 405],
  ['GET', '/nothing', 404],
  ['GET', '/%', 400],
  ['POST', '/plants', 401],
  ['POST', '/trpc/createPlant', 401],
  ['POST', '/trpc/nothing', 401],
])('sends and logs the request ID of %s %s, whose status is %i', async (method, path, status) => {
  const level = path === '/livez' ? 20 : 30;
  const id = `id-of-${method}-${path}`.replaceAll('%', '.');
  const response = await fetch(server.url + path, { method, headers: { 'x-request-id': id } });
  expect(response.status).toBe(status);
  expect(response.headers.get('x-request-id')).toBe(id);
  await expect.poll(() => linesOf(id)).toMatchObject([{ level, status, ip: '127.0.0.1' }]);
});

it.each([
  ['what is this?\r\n\r\n', 40002],
  [rawRequest('GET /', [`X-Long: ${'x'.repeat(20_000)}`]), 43100],
  [rawRequest('CONNECT x:1'), 40500],
])('generates a request ID for a request that never reaches Fastify: %j', async (bytes, code) => {
  const response = await sendRaw(server.url, bytes);
  const status = Math.floor(code / 100);
  expectError({ status: response.status, body: JSON.parse(response.body) }, status, code);
  const id = response.headers.get('x-request-id') ?? '';
  expect(id).toMatch(uuid);
  expect(linesOf(id)).toMatchObject([{ msg: 'rejected', status, errorCode: code }]);
});

it('logs the request ID in the line of the request and in the line of the error', async () => {
  await post(server, '/plants', '{"id":500,"name":"x"}', { 'x-request-id': 'with-a-bug' });
  await expect
    .poll(() => linesOf('with-a-bug'))
    .toMatchObject([
      { level: 50, errorCode: 50000, err: { message: 'something is not defined' } },
      { level: 30, status: 500, errorCode: 50000, msg: 'request' },
    ]);
});
