import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { sendRaw } from '../fixtures/raw-request.ts';
import { type RunningServer, startServer } from '../fixtures/running-server.ts';
import { post, surfaces } from '../fixtures/surfaces.ts';

let server: RunningServer;
let created = 0;

beforeAll(async () => {
  server = await startServer('Postgres', {
    logLevel: 'silent',
    create: async ({ name }) => {
      created++;
      return { name };
    },
  });
});

afterAll(() => server.stop());

beforeEach(() => {
  created = 0;
});

const bodies = { '/plants': '{"id":1,"name":"x"}', '/trpc': '{"json":{"id":1,"name":"x"}}' };

/** Sends a request to create a plant over a new connection. */
function send(target: string, headers: string[] = [], method = 'POST') {
  const body = bodies[target.includes('rpc') ? '/trpc' : '/plants'];
  const more = ['Content-Type: application/json', `Content-Length: ${body.length}`, ...headers];
  const head = [`${method} ${target} HTTP/1.1`, 'Host: x', 'Connection: close', ...more];
  return sendRaw(server.url, `${head.join('\r\n')}\r\n\r\n${body}`);
}

const authorization = 'Authorization: Bearer test-token';

it.each(surfaces)(
  'a plant is created over $name with a valid token, so the other tests prove something',
  async ({ path }) => {
    expect(await send(path, [authorization])).toMatchObject({ status: 200 });
    expect(created).toBe(1);
  },
);

const targets = [
  ...['/plants', '/plants/', '//plants', '/plants//', '/./plants', '/x/../plants', '/plants/.'],
  ...['/%70lants', '/%2fplants', '/plants%2f', '/plants%00', '/plants%20', '/plants%0d%0a'],
  ...['/plants;x', '/plants.json', '/PLANTS', '/plants#x', '/plants?', '/plants?x=/livez'],
  ...['/livez/../plants', '/livez/..%2fplants', '/docs/../plants', '/docs/%2e%2e/plants'],
  ...[
    'http://x/plants',
    'http://x//plants',
    'HTTPS://user:test-token@x/plants',
    '/http://x/plants',
  ],
  ...[
    '/plants?access_token=test-token',
    '/plants?token=test-token',
    '/plants?authorization=Bearer%20test-token',
  ],
  ...['/trpc/createPlant', '/trpc//createPlant', '//trpc/createPlant', '/trpc/createPlant/'],
  ...['/%74rpc/create%50lant', '/trpc/%63reatePlant', '/trpc%2fcreatePlant', '/TRPC/createPlant'],
  ...['/trpc/createPlant?batch=1', '/trpc/createPlant,createPlant?batch=1', '/trpc/'],
  ...['/trpc/createPlant?input=%7B%22json%22%3A%7B%22id%22%3A1%2C%22name%22%3A%22x%22%7D%7D'],
  '/trpc/createPlant?connectionParams=%7B%22authorization%22%3A%22Bearer%20test-token%22%7D',
];

it.each([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'M-SEARCH',
])('no plant is created by %s at any target', async (method) => {
  for (const target of targets) {
    const { status } = await send(target, [], method);
    expect([400, 401, 404, 405], target).toContain(status);
  }
  expect(created).toBe(0);
});

it.each(surfaces)(
  'no plant is created over $name with a string that resembles the token',
  async ({ path }) => {
    const encoded = Buffer.from('test-token').toString('base64');
    const sha256 = createHash('sha256').update('test-token').digest();
    const credentials = [
      ...[
        'Bearer',
        'Bearer ',
        'test-token',
        'Bearertest-token',
        'Bearer=test-token',
        'Bearer:test-token',
      ],
      ...['Bearer\ttest-token', 'Bearer test-token, Bearer test-token', 'Bearer "test-token"'],
      ...[
        'Bearer TEST-TOKEN',
        'Bearer test-toke',
        'Bearer test-token1',
        'Bearer test-token=',
        'Bearer *',
      ],
      ...['Bearer test-token\u00e9', 'Bearer Bearer test-token', 'Bearer null', 'Bearer undefined'],
      ...[
        `Bearer ${sha256.toString('hex')}`,
        `Bearer ${sha256.toString('base64')}`,
        `Bearer ${encoded}`,
      ],
      ...[
        `Basic ${Buffer.from('test-token:').toString('base64')}`,
        'Basic test-token',
        'Token test-token',
      ],
      ...['Digest username="test-token"', 'Negotiate test-token', 'DPoP test-token'],
    ];
    for (const each of credentials) {
      expect((await send(path, [`Authorization: ${each}`])).status, each).toBe(401);
    }
    expect(created).toBe(0);
  },
);

it.each(surfaces)(
  'no plant is created over $name with a token in the wrong place',
  async ({ path }) => {
    const headers = [
      ...['Proxy-Authorization: Bearer test-token', 'X-Authorization: Bearer test-token'],
      ...[
        'Access-Token: test-token',
        'Cookie: access_token=test-token; authorization=Bearer test-token',
      ],
      ...['X-Forwarded-User: tester', 'X-Forwarded-For: 127.0.0.1', 'X-Original-URL: /livez'],
      ...['X-Rewrite-URL: /livez', 'X-HTTP-Method-Override: GET', 'X-HTTP-Method: GET'],
      ...['Connection: authorization', 'Upgrade: websocket', 'Trailer: authorization'],
    ];
    for (const each of headers) expect((await send(path, [each])).status, each).toBe(401);
    const override = ['X-HTTP-Method-Override: POST', 'X-Original-URL: /plants'];
    expect((await send('/livez', override)).status).toBe(405);
    expect(created).toBe(0);
  },
);

it.each(surfaces)(
  'no plant is created over $name with two Authorization headers',
  async ({ path }) => {
    for (const other of [
      'Authorization: Bearer guess',
      'authorization: Basic eA==',
      authorization,
    ]) {
      expect((await send(path, [authorization, other])).status).toBe(400);
      expect((await send(path, [other, authorization])).status).toBe(400);
    }
    expect(created).toBe(0);
  },
);

it.each(surfaces)(
  'over $name, the server neither asks for a body nor waits for the body',
  async ({ path }) => {
    for (const headers of ['', 'Expect: 100-continue\r\n', 'Authorization: Bearer guess\r\n']) {
      const { responses } = await sendRaw(
        server.url,
        `POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}` +
          'Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n',
      );
      expect(responses).toMatchObject([{ status: 401 }]);
    }
  },
);

it('no other website has access by default', async () => {
  const origin = 'https://elsewhere.example.com';
  const preflight = { origin, 'access-control-request-method': 'POST' };
  for (const { path } of surfaces) {
    const preflightResponse = await fetch(server.url + path, {
      method: 'OPTIONS',
      headers: preflight,
    });
    expect(preflightResponse.status).toBe(405);
    const sent = await post(server, path, bodies[path === '/plants' ? '/plants' : '/trpc'], {
      origin,
    });
    for (const { headers } of [preflightResponse, sent]) {
      expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  }
});
