import { createHash } from 'node:crypto';
import { afterEach, expect, it } from 'vitest';
import {
  bearer,
  close,
  contentType,
  expectError,
  rawRequest,
  sendRaw,
} from '../fixtures/raw-request.ts';
import { shareServer, storedPlants, token } from '../fixtures/server.ts';
import { surfaces } from '../fixtures/surfaces.ts';

const server = shareServer();
const authorization = bearer(token);
const plant = '{"id":1,"name":"x"}';
const bodyFor = (target: string) => (target.includes('rpc') ? `{"json":${plant}}` : plant);

/** Sends a plant to a target over a new connection. */
const send = (target: string, headers: string[] = [], method = 'POST') =>
  sendRaw(
    server.url,
    rawRequest(`${method} ${target}`, [close, contentType, ...headers], bodyFor(target)),
  );

afterEach(async () => {
  expect(await storedPlants(server)).toEqual([]);
});

it.each(surfaces)('creates a plant over $name with a valid token', async ({ path }) => {
  for (const header of [authorization, `Authorization: bEARER   ${token}`]) {
    expect(await send(path, [header])).toMatchObject({ status: 200 });
  }
  const headers = { authorization: `Bearer ${token}` };
  await fetch(`${server.url}/plants/1`, { method: 'DELETE', headers });
});

const targets = [
  ...['/plants', '/plants/', '//plants', '/./plants', '/x/../plants', '/%70lants', '/%2fplants'],
  ...['/plants%00', '/plants;x', '/PLANTS', '/plants#x', '/plants?x=/livez', '/livez/../plants'],
  ...['/livez/..%2fplants', '/docs/%2e%2e/plants', 'http://x/plants', '/http://x/plants'],
  ...[`HTTPS://user:${token}@x/plants`, `/plants?access_token=${token}`],
  ...[`/plants?authorization=Bearer%20${token}`, '/trpc/createPlant', '/trpc//createPlant'],
  ...['/%74rpc/create%50lant', '/trpc%2fcreatePlant', '/trpc/createPlant?batch=1'],
  ...['/trpc/createPlant,createPlant?batch=1', '/trpc/createPlant?input={"json":{"id":1}}'],
  `/trpc/createPlant?connectionParams=%7B%22authorization%22%3A%22Bearer%20${token}%22%7D`,
];

it.each(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'])(
  'the method %s creates no plant at any path without the header Authorization',
  async (method) => {
    for (const target of targets) {
      const { status } = await send(target, [], method);
      expect([400, 401, 404, 405], target).toContain(status);
    }
  },
);

const base64 = (text: string) => Buffer.from(text).toString('base64');
const sha256 = createHash('sha256').update(token).digest();

const credentials = {
  40100: [
    ...['', 'Bearer', 'Bearer ', token, `Bearer${token}`, `Bearer=${token}`, `Bearer\t${token}`],
    ...[`Basic ${base64(`${token}:`)}`, `Basic Bearer ${token}`, `Digest username="${token}"`],
  ],
  40101: [
    ...[`Bearer ${token} x`, `Bearer ${token}, Bearer ${token}`, `Bearer "${token}"`],
    ...[`Bearer ${token.slice(1)}`, `Bearer ${token.slice(0, -1)}`, `Bearer ${token}1`],
    ...['Bearer *', `Bearer ${token}\u00e9`, `Bearer Bearer ${token}`, 'Bearer undefined'],
    ...[`Bearer ${sha256.toString('hex')}`, `Bearer ${base64(token)}`],
  ],
};

it.each(
  surfaces.flatMap(({ path }) => [
    [path, 40100, 'Bearer realm="plant-store"'] as const,
    [path, 40101, 'Bearer realm="plant-store", error="invalid_token"'] as const,
  ]),
)(
  'creates no plant at %s with an invalid Authorization header, and sends the error %i',
  async (path, code, challenge) => {
    for (const each of credentials[code]) {
      const response = await send(path, [`Authorization: ${each}`]);
      expectError(response, code);
      expect(response.headers.get('www-authenticate'), each).toBe(challenge);
    }
  },
);

it.each(surfaces)(
  'creates no plant over $name with headers other than Authorization, or with two Authorization headers',
  async ({ path }) => {
    const headers = [
      ...[`Proxy-Authorization: Bearer ${token}`, `X-Authorization: Bearer ${token}`],
      ...[`Cookie: access_token=${token}; authorization=Bearer ${token}`],
      ...['X-Original-URL: /livez', 'X-Forwarded-User: tester', 'X-Forwarded-For: 127.0.0.1'],
      ...['X-HTTP-Method-Override: GET', 'Connection: authorization', 'Trailer: authorization'],
    ];
    for (const each of headers) expectError(await send(path, [each]), 40100);
    for (const other of ['Authorization: Bearer guess', authorization]) {
      expectError(await send(path, [authorization, other]), 40101);
      expectError(await send(path, [other, authorization]), 40101);
    }
    const override = ['X-HTTP-Method-Override: POST', 'X-Original-URL: /plants'];
    expect((await send('/livez', override)).status).toBe(405);
  },
);

it.each(surfaces)(
  'checks the token over $name before the Content-Type, and before the body arrives',
  async ({ path }) => {
    const body = ['Content-Type: text/plain', 'Content-Length: 1000', close];
    for (const header of ['X: y', 'Expect: 100-continue', 'Authorization: Bearer guess']) {
      const { status } = await sendRaw(server.url, rawRequest(`POST ${path}`, [header, ...body]));
      expect(status).toBe(401);
    }
  },
);
