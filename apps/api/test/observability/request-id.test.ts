import { expect, it } from 'vitest';
import { sendRaw } from '../fixtures/raw-request.ts';
import { shareServer } from '../fixtures/running-server.ts';
import { post, surfaces } from '../fixtures/surfaces.ts';

const plant = '{"id":1,"name":"x"}';
const uuid = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

const server = shareServer({
  create: async ({ id }) => {
    if (id === 500n) throw new ReferenceError('something is not defined');
    return { name: 'x' };
  },
});

const linesOf = (id: string) =>
  server.log.map((line) => JSON.parse(line)).filter(({ reqId }) => reqId === id);

it.each(surfaces)(
  'keeps a well-formed id over $name, in responses of all kinds',
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
  'generates an id over $name when the id is missing or not well-formed',
  async (surface) => {
    for (const sent of [
      {},
      { 'x-request-id': '' },
      { 'x-request-id': 'two words' },
      { 'x-request-id': 'a'.repeat(129) },
      { 'x-request-id': '{"level":60}' },
      { 'x-request-id': 'a,b' },
      { 'x-request-id': 'é' },
    ]) {
      const response = await surface.send(server, plant, sent);
      expect(response.headers.get('x-request-id')).toMatch(uuid);
    }
  },
);

it('generates an id when the id contains the access token of its request', async () => {
  const response = await post(server, '/plants', plant, { 'x-request-id': `id-${server.token}` });
  expect(response.headers.get('x-request-id')).toMatch(uuid);
});

it('generates an id when a client sends two ids', async () => {
  const { headers } = await sendRaw(
    server.url,
    'GET /livez HTTP/1.1\r\nHost: x\r\nX-Request-Id: a\r\nX-Request-Id: b\r\nConnection: close\r\n\r\n',
  );
  expect(headers.get('x-request-id')).toMatch(uuid);
});

it.each([
  ['GET', '/livez', 200],
  ['GET', '/docs', 200],
  ['PUT', '/plants', 405],
  ['GET', '/nothing', 404],
  ['GET', '/%', 400],
  ['POST', '/plants', 401],
  ['POST', '/trpc/createPlant', 401],
  ['POST', '/trpc/nothing', 401],
])('sends and logs the id of %s %s, whose status is %i', async (method, path, status) => {
  const id = `id-of-${method}-${path}`.replaceAll('%', '.');
  const response = await fetch(server.url + path, { method, headers: { 'x-request-id': id } });
  expect(response.status).toBe(status);
  expect(response.headers.get('x-request-id')).toBe(id);
  await expect.poll(() => linesOf(id)).toMatchObject([{ status, ip: '127.0.0.1' }]);
});

it.each([
  ['what is this?\r\n\r\n', 400],
  [`GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ['CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n', 405],
])('generates an id for a request that never reaches Fastify: %j', async (bytes, status) => {
  const response = await sendRaw(server.url, bytes);
  expect(response.status).toBe(status);
  const id = response.headers.get('x-request-id') ?? '';
  expect(id).toMatch(uuid);
  const { error } = JSON.parse(response.body);
  expect(linesOf(id)).toMatchObject([{ msg: 'rejected', status, errors: [error] }]);
});

it('is in the log line of a request and in the log line of its error', async () => {
  await post(server, '/plants', '{"id":500,"name":"x"}', { 'x-request-id': 'with-a-bug' });
  await expect
    .poll(() => linesOf('with-a-bug'))
    .toMatchObject([
      { level: 50, error: 50000, err: { message: 'something is not defined' } },
      { level: 30, status: 500, errors: [50000], msg: 'request' },
    ]);
});
