import { createHash } from 'node:crypto';
import { beforeEach, expect, it } from 'vitest';
import { expectErrorAt } from '../fixtures/expect-error.ts';
import { authorization, close, contentType, rawRequest, sendRaw } from '../fixtures/raw-request.ts';
import { shareServer } from '../fixtures/running-server.ts';
import { post, surfaces } from '../fixtures/surfaces.ts';

let created = 0;

const server = shareServer({
  logLevel: 'silent',
  create: async ({ name }) => {
    created++;
    return { name };
  },
});

beforeEach(() => {
  created = 0;
});

const plant = '{"id":1,"name":"x"}';
const bodyFor = (target: string) => (target.includes('rpc') ? `{"json":${plant}}` : plant);

/** Sends a plant to a target over a new connection. */
const send = (target: string, headers: string[] = [], method = 'POST') =>
  sendRaw(
    server.url,
    rawRequest(`${method} ${target}`, [close, contentType, ...headers], bodyFor(target)),
  );

it.each(surfaces)(
  'creates a plant over $name with a valid token, which the requests of the other tests lack',
  async ({ path }) => {
    for (const header of [authorization, 'Authorization: bEARER   test-token']) {
      expect(await send(path, [header])).toMatchObject({ status: 200 });
    }
    expect(created).toBe(2);
  },
);

const targets = [
  ...['/plants', '/plants/', '//plants', '/plants//', '/./plants', '/x/../plants', '/plants/.'],
  ...['/%70lants', '/%2fplants', '/plants%2f', '/plants%00', '/plants%20', '/plants%0d%0a'],
  ...['/plants;x', '/plants.json', '/PLANTS', '/plants#x', '/plants?', '/plants?x=/livez'],
  ...['/livez/../plants', '/livez/..%2fplants', '/docs/../plants', '/docs/%2e%2e/plants'],
  ...['http://x/plants', 'http://x//plants', '/http://x/plants'],
  ...['HTTPS://user:test-token@x/plants', '/plants?access_token=test-token'],
  ...['/plants?token=test-token', '/plants?authorization=Bearer%20test-token'],
  ...['/trpc/createPlant', '/trpc//createPlant', '//trpc/createPlant', '/trpc/createPlant/'],
  ...['/%74rpc/create%50lant', '/trpc/%63reatePlant', '/trpc%2fcreatePlant', '/TRPC/createPlant'],
  ...['/trpc/createPlant?batch=1', '/trpc/createPlant,createPlant?batch=1', '/trpc/'],
  ...['/trpc/createPlant?input=%7B%22json%22%3A%7B%22id%22%3A1%2C%22name%22%3A%22x%22%7D%7D'],
  '/trpc/createPlant?connectionParams=%7B%22authorization%22%3A%22Bearer%20test-token%22%7D',
];

it.each([
  ...['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'M-SEARCH'],
])('the method %s creates no plant at any path without a token', async (method) => {
  for (const target of targets) {
    const { status } = await send(target, [], method);
    expect([400, 401, 404, 405], target).toContain(status);
  }
  expect(created).toBe(0);
});

const base64 = (text: string) => Buffer.from(text).toString('base64');
const sha256 = createHash('sha256').update('test-token').digest();

const credentials = {
  40100: [
    ...['', 'Bearer', 'Bearer ', 'test-token', 'Bearertest-token', 'Bearer=test-token'],
    ...['Bearer:test-token', 'Bearer\ttest-token', `Basic ${base64('test-token:')}`],
    ...['Basic test-token', 'Basic Bearer test-token', 'Token test-token', 'DPoP test-token'],
    ...['Digest username="test-token"', 'Negotiate test-token'],
  ],
  40101: [
    ...['Bearer test-token x', 'Bearer test-token, Bearer test-token', 'Bearer "test-token"'],
    ...['Bearer TEST-TOKEN', 'Bearer test-toke', 'Bearer test-token1', 'Bearer test-token='],
    ...['Bearer *', 'Bearer test-token\u00e9', 'Bearer Bearer test-token', 'Bearer null'],
    ...['Bearer undefined', `Bearer ${sha256.toString('hex')}`],
    ...[`Bearer ${sha256.toString('base64')}`, `Bearer ${base64('test-token')}`],
  ],
};

it.each(
  surfaces.flatMap(({ name, path }) => [
    { name, path, code: 40100 as const, challenge: 'Bearer realm="plant-store"' },
    {
      ...{ name, path, code: 40101 as const },
      challenge: 'Bearer realm="plant-store", error="invalid_token"',
    },
  ]),
)(
  'creates no plant over $name with text that resembles the token, and sends the error $code',
  async ({ path, code, challenge }) => {
    for (const each of credentials[code]) {
      const { status, headers, body } = await send(path, [`Authorization: ${each}`]);
      expectErrorAt(path, { status, body: JSON.parse(body) }, 401, code);
      expect(headers.get('www-authenticate'), each).toBe(challenge);
    }
    expect(created).toBe(0);
  },
);

it.each(surfaces)(
  'creates no plant over $name with a token in the wrong place',
  async ({ path }) => {
    const headers = [
      ...['Proxy-Authorization: Bearer test-token', 'X-Authorization: Bearer test-token'],
      ...['Access-Token: test-token', 'X-Original-URL: /livez', 'X-Forwarded-User: tester'],
      'Cookie: access_token=test-token; authorization=Bearer test-token',
      ...['X-Forwarded-For: 127.0.0.1', 'X-HTTP-Method: GET', 'X-HTTP-Method-Override: GET'],
      ...['X-Rewrite-URL: /livez', 'Connection: authorization', 'Upgrade: websocket'],
      'Trailer: authorization',
    ];
    for (const each of headers) {
      const { status, body } = await send(path, [each]);
      expectErrorAt(path, { status, body: JSON.parse(body) }, 401, 40100);
    }
    const override = ['X-HTTP-Method-Override: POST', 'X-Original-URL: /plants'];
    expect((await send('/livez', override)).status).toBe(405);
    expect(created).toBe(0);
  },
);

it.each(surfaces)(
  'creates no plant over $name with two Authorization headers',
  async ({ path }) => {
    const others = ['Authorization: Bearer guess', 'authorization: Basic eA==', authorization];
    for (const other of others) {
      expect((await send(path, [authorization, other])).status).toBe(400);
      expect((await send(path, [other, authorization])).status).toBe(400);
    }
    expect(created).toBe(0);
  },
);

it.each(surfaces)(
  'checks the token over $name before the Content-Type, and before the body arrives',
  async ({ path }) => {
    const body = ['Content-Type: text/plain', 'Content-Length: 1000', close];
    for (const header of ['X: y', 'Expect: 100-continue', 'Authorization: Bearer guess']) {
      const { responses } = await sendRaw(
        server.url,
        rawRequest(`POST ${path}`, [header, ...body]),
      );
      expect(responses).toMatchObject([{ status: 401 }]);
    }
  },
);

it('sends no CORS headers to pages of other origins by default', async () => {
  const origin = 'https://elsewhere.example.com';
  for (const { path } of surfaces) {
    const preflight = await fetch(server.url + path, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST' },
    });
    expect(preflight.status).toBe(405);
    const created = await post(server, path, bodyFor(path), { origin });
    for (const { headers } of [preflight, created]) {
      expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  }
});
