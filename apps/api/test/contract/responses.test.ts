import { beforeAll, describe, expect, it } from 'vitest';
import { bearer, close, rawRequest, sendRaw } from '../fixtures/raw-request.ts';
import { share, shareServer, startForTest, startServer, token } from '../fixtures/server.ts';
import { get, post, surfaces } from '../fixtures/surfaces.ts';

const server = shareServer();
const plant = '{"id":1,"name":"Monstera deliciosa"}';

beforeAll(async () => {
  const plants = Array.from(
    { length: 500 },
    (_, id) => `{"id":${id + 10},"name":"Monstera deliciosa ${id}","tag":"Araceae"}`,
  );
  await post(server, '/plants/batch', `{"plants":[${plants}]}`);
});

const message = (path: string, ...headers: string[]) =>
  rawRequest(`GET ${path}`, [close, ...headers]);
const authorization = bearer(token);

it.each([
  ['a list', message('/plants', authorization), 200],
  ['an error over REST', message('/plants/5', authorization), 404],
  ['a list over tRPC', message('/trpc/listPlants', authorization), 200],
  ['an error over tRPC', message('/trpc/getPlant', authorization), 400],
  ['an error for a missing token', message('/whoami'), 401],
  ['the health of the process', message('/livez'), 200],
  ['the health of the database', message('/readyz'), 200],
  ['an error for a malformed path', message('/%ff'), 400],
  ['an error for bytes that are not HTTP', 'what is this?\r\n\r\n', 400],
])('forbids clients to cache %s, and to guess its content type', async (_, bytes, status) => {
  const response = await sendRaw(server.url, bytes);
  expect(response.status).toBe(status);
  expect(response.headers.get('content-type')).toMatch(/^application\/json\b/);
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(response.headers.get('x-content-type-options')).toBe('nosniff');
});

describe('the request id', () => {
  const wellFormed = /^[\w-]{10,}$/;

  it.each(surfaces)('is sent back over $name, even with an error', async (surface) => {
    for (const [id, json, status] of [
      ['4bf92f3577b34da6a3ce929d0e0e4736', plant, 200],
      ['req_8:a.b/c+d=@e-f', 'not json', 400],
      ['a'.repeat(128), '{}', 400],
    ] as const) {
      const response = await surface.send(server, json, { 'x-request-id': id });
      expect([response.status, response.headers.get('x-request-id')]).toEqual([status, id]);
    }
  });

  it('is made by the server when it is missing or malformed, or contains the token', async () => {
    const bad = ['', 'two words', 'a'.repeat(129), '{"level":60}', 'é', 'a, b', `id-${token}`];
    for (const id of [undefined, ...bad]) {
      const response = await get(server, '/plants', id === undefined ? {} : { 'x-request-id': id });
      const sent = response.headers.get('x-request-id') ?? '';
      expect(sent).toMatch(wellFormed);
      expect(sent).not.toContain(token);
    }
  });

  it.each([
    'what is this?\r\n\r\n',
    rawRequest('GET /', [`A: ${'x'.repeat(20_000)}`]),
    message('/%'),
  ])('is in the response even to a malformed request (%#)', async (bytes) => {
    const { headers } = await sendRaw(server.url, bytes);
    expect(headers.get('x-request-id')).toMatch(wellFormed);
  });
});

it.each(['/plants?limit=500', '/openapi.json', '/trpc/listPlants?input={"json":{}}'])(
  'the response to GET %s is compressed for a client that accepts compression',
  async (path) => {
    const plain = await get(server, path, { 'accept-encoding': 'br;q=0' });
    expect(plain.headers.has('content-encoding')).toBe(false);
    const response = await get(server, path, { 'accept-encoding': 'gzip, br' });
    expect(response.headers.get('content-encoding')).toMatch(/^(gzip|br)$/);
    expect(response.headers.get('vary')).toMatch(/accept-encoding/i);
    expect(await response.text()).toBe(await plain.text());
  },
);

describe('the rate limit', () => {
  it.each(surfaces)(
    'counts requests over $name, even with an invalid token, and rejects further requests',
    async (surface) => {
      const limited = await startForTest({ PLANT_STORE_RATE_LIMIT: '2' });
      expect((await surface.send(limited, plant)).status).toBe(200);
      expect((await surface.send({ ...limited, token: 'guess' }, plant)).status).toBe(401);
      const response = await surface.send(limited, plant);
      expect(response).toMatchObject({ status: 429, error: 42900 });
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
      // The rate limit does not apply to health checks.
      expect((await fetch(`${limited.url}/livez`)).status).toBe(200);
    },
  );

  const clients = ['192.0.2.1', '192.0.2.1', '192.0.2.2', '192.0.2.3, 192.0.2.1'];
  const inOneNetwork = ['2001:db8:0:1::1', '2001:0db8::1:ffff:2:3:4', '2001:db8:0:2::1'];

  it.each([
    ['each client of a trusted proxy', '10.0.0.0/8, 127.0.0.1', clients, [200, 429, 200, 429]],
    ['an untrusted proxy as one client', '10.0.0.0/8', clients, [200, 429, 429, 429]],
    ['an IPv6 /64 as one client', '127.0.0.1', inOneNetwork, [200, 429, 200]],
  ])('counts %s', async (_what, PLANT_STORE_TRUST_PROXY, clients, expected) => {
    const limited = await startForTest({ PLANT_STORE_RATE_LIMIT: '1', PLANT_STORE_TRUST_PROXY });
    const statuses: number[] = [];
    for (const client of clients) {
      statuses.push((await get(limited, '/whoami', { 'x-forwarded-for': client })).status);
    }
    expect(statuses).toEqual(expected);
  });
});

describe('pages of other origins', () => {
  const origin = 'https://app.example.com';
  const open = share(() =>
    startServer({
      PLANT_STORE_CORS_ORIGINS: `http://localhost:5173, ${origin}`,
      PLANT_STORE_RATE_LIMIT: '50',
    }),
  );
  const preflight = (url: string) =>
    fetch(url, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type,if-match,if-none-match',
      },
    });
  const list = (headers: Headers, name: string) =>
    (headers.get(name) ?? '').toLowerCase().split(/, */);

  it.each(surfaces)('may not call $name by default', async ({ path }) => {
    const responses = [
      await preflight(server.url + path),
      await post(server, path, path === '/plants' ? plant : `{"json":${plant}}`, { origin }),
    ];
    for (const { headers } of responses) {
      expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });

  it.each(surfaces)('may call $name when their origin is configured', async (surface) => {
    const { status, headers } = await preflight(open.url + surface.path);
    expect([status, headers.get('access-control-allow-origin')]).toEqual([204, origin]);
    expect(list(headers, 'access-control-allow-methods')).toEqual(
      expect.arrayContaining(['delete', 'get', 'patch', 'post', 'put']),
    );
    expect(list(headers, 'access-control-allow-headers')).toContain('if-match');
    for (const each of [origin, 'https://example.com']) {
      const response = await surface.send(open, plant, { origin: each });
      const allowed = response.headers.get('access-control-allow-origin');
      expect(allowed === each).toBe(each === origin);
      expect(response.headers.get('vary')).toMatch(/\bOrigin\b/i);
    }
  });

  it('may read the headers of the store, even in error responses', async () => {
    const ask = (headers = {}) => post(open, '/plants', plant, { origin, ...headers });
    let limited = await ask();
    const responses: [Response, string[]][] = [
      [limited, ['x-request-id']],
      [await get(open, '/plants/1', { origin }), ['etag']],
      [await ask({ authorization: '' }), ['x-request-id', 'www-authenticate']],
    ];
    while (limited.status !== 429) limited = await ask();
    responses.push([limited, ['x-request-id', 'retry-after']]);
    for (const [{ headers }, names] of responses) {
      expect([...headers.keys()]).toEqual(expect.arrayContaining(names));
      expect(list(headers, 'access-control-expose-headers')).toEqual(expect.arrayContaining(names));
    }
  });

  it('may read the OpenAPI document from any origin', async () => {
    const { headers } = await fetch(`${server.url}/openapi.json`, { headers: { origin } });
    expect(headers.get('access-control-allow-origin')).toBe('*');
  });
});
