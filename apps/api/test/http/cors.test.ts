import { expect, it } from 'vitest';
import { shareServer, startServerOn } from '../fixtures/running-server.ts';
import { surfaces } from '../fixtures/surfaces.ts';

const origin = 'https://app.example.com';
const plant = '{"id":1,"name":"Monstera deliciosa"}';

const server = shareServer({ corsOrigins: ['http://localhost:5173', origin] });

/** Sends a preflight, as a browser does before it sends a token to another origin. */
const preflight = (path: string, headers = { origin }) =>
  fetch(server.url + path, {
    method: 'OPTIONS',
    headers: {
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type',
      ...headers,
    },
  });

it.each(surfaces)(
  'responds to a preflight of a configured origin over $name without a token',
  async ({ path }) => {
    const { status, headers } = await preflight(path);
    expect(status).toBe(204);
    expect(Object.fromEntries(headers)).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'DELETE, GET, POST',
      'access-control-allow-headers':
        'Authorization, Content-Type, Last-Event-ID, X-Request-Id, baggage, traceparent, tracestate, trpc-accept, x-trpc-source',
    });
  },
);

it.each(surfaces)(
  'allows a page of a configured origin to read plants and errors over $name',
  async (surface) => {
    for (const [authorization, status] of [
      ['Bearer test-token', 200],
      ['', 401],
    ] as const) {
      const response = await surface.send(server, plant, { origin, authorization });
      expect(response.status).toBe(status);
      expect(response.headers.get('access-control-allow-origin')).toBe(origin);
      expect(response.headers.get('vary')).toMatch(/\bOrigin$/);
    }
  },
);

it.each(surfaces)('sends no CORS headers to an unknown origin over $name', async (surface) => {
  const other = { origin: 'https://example.com' };
  expect((await preflight(surface.path, other)).headers.has('access-control-allow-origin')).toBe(
    false,
  );
  const response = await surface.send(server, plant, other);
  expect(response.headers.has('access-control-allow-origin')).toBe(false);
  expect(response.headers.get('vary')).toMatch(/\bOrigin$/);
});

it('logs an origin once when the origin is not allowed, and logs at most a hundred origins', async () => {
  const logging = await startServerOn(server.store, { corsOrigins: [origin] });
  const send = (from: string) =>
    fetch(`${logging.url}/plants`, { method: 'POST', headers: { origin: from } });
  for (const from of [origin, logging.url, 'null', 'https://a.example', 'null']) await send(from);
  const origins = () => logging.log.map((line) => JSON.parse(line).origin).filter(Boolean);
  expect(origins()).toEqual(['null', 'https://a.example']);
  const line = logging.log.find((each) => each.includes('https://a.example')) ?? '';
  expect(JSON.parse(line)).toMatchObject({
    level: 40,
    msg: expect.stringContaining('add its origin to PLANT_STORE_CORS_ORIGINS'),
  });
  for (let i = 0; i < 110; i++) await send(`https://${i}.example`);
  expect(origins()).toHaveLength(100);
  await logging.stop();
});

it('responds with 405 to an OPTIONS request that is not a preflight', async () => {
  const response = await fetch(`${server.url}/plants`, { method: 'OPTIONS', headers: { origin } });
  expect(response.status).toBe(405);
  expect(response.headers.get('allow')).toBe('GET, HEAD, POST');
});

it('allows a page of a configured origin to read the error of a malformed path', async () => {
  expect((await preflight('/plants%zz')).status).toBe(204);
  const { status, headers } = await fetch(`${server.url}/plants%zz`, { headers: { origin } });
  expect(status).toBe(400);
  expect(headers.get('access-control-allow-origin')).toBe(origin);
  expect(headers.get('vary')).toMatch(/\bOrigin$/);
});
