import { createHash } from 'node:crypto';
import { runSql } from '@plant-store/test-setup';
import { expect, it, vi } from 'vitest';
import { jwtSettings, startIdentityProvider } from '../fixtures/identity-provider.ts';
import { runFirst, type Served, serve, stopProgram } from '../fixtures/program.ts';
import { beginCreate, rawRequest, sendRaw } from '../fixtures/raw-request.ts';
import { get, post, rest, surfaces } from '../fixtures/surfaces.ts';

const plant = '{"id":1,"name":"x"}';

const linesOf = ({ log }: Served, id: string) => log().filter(({ reqId }) => reqId === id);

/** A bug: the server cannot read the id 99999. */
const bug = runFirst(`
  const { BigInt } = globalThis;
  globalThis.BigInt = Object.assign((value) => {
    if (String(value) === '99999') throw new TypeError('a bug in the server');
    return BigInt(value);
  }, { asIntN: BigInt.asIntN, asUintN: BigInt.asUintN, prototype: BigInt.prototype });`);

it('the log gets one line for each request before the exit, with client, principal and status', async () => {
  const server = await serve();
  const headers = { 'x-request-id': 'mine', 'user-agent': 'a-test' };
  for (let i = 0; i < 50; i++) await get(server, '/plants?tag=secret', headers);
  await stopProgram(server);
  const line = {
    ...{ level: 30, method: 'GET', path: '/plants', status: 200, ip: '127.0.0.1' },
    ...{ principal: expect.any(String), userAgent: 'a-test' },
    ...{ time: expect.any(Number), responseTime: expect.any(Number) },
  };
  expect(linesOf(server, 'mine')).toMatchObject(Array(50).fill(line));
});

it('the log has the error code of a rejected request, even when Node rejects its bytes', async () => {
  const server = await serve();
  await post(server, '/plants', '{}', { 'x-request-id': 'invalid' });
  const { headers } = await sendRaw(server.url, rawRequest('GET /', ['A b: c']));
  const id = headers.get('x-request-id') ?? '';
  await stopProgram(server);
  expect(linesOf(server, 'invalid')).toMatchObject([{ status: 400, errorCode: 40001 }]);
  expect(linesOf(server, id)).toMatchObject([{ status: 400, errorCode: 40000 }]);
});

it('the log has the cause of an internal error under the request id, and no stack of libraries', async () => {
  const server = await serve(bug);
  const { status, error, headers } = await rest.call(server, 'getPlant', { id: 99999n });
  expect([status, error]).toEqual([500, 50000]);
  await stopProgram(server);
  const lines = linesOf(server, headers.get('x-request-id') ?? '');
  const cause = { errorCode: 50000, err: { message: 'a bug in the server' } };
  expect(lines).toMatchObject([cause, { status: 500 }]);
  expect(server.output()).not.toContain('node_modules');
});

it('the log has one line for a client that disconnects while it sends a body', async () => {
  const server = await serve();
  const socket = await beginCreate(server, plant);
  socket.resetAndDestroy();
  const lines = () => server.log().filter(({ path }) => path === '/plants');
  await vi.waitFor(() => expect(lines()).toHaveLength(1));
});

it('the log has the issuer and the subject of a JWT', async () => {
  const provider = await startIdentityProvider();
  await provider.addKey('first');
  const server = await serve(jwtSettings(provider));
  const token = await provider.sign({ claims: { sub: 'Ann' } });
  await post({ ...server, token }, '/plants', plant, { 'x-request-id': 'of-ann' });
  await stopProgram(server);
  await provider.stop();
  const issuer = jwtSettings(provider).PLANT_STORE_JWT_ISSUER;
  expect(linesOf(server, 'of-ann')).toMatchObject([{ principal: 'Ann', issuer }]);
});

it('neither the log nor a response contains a token, a rejected plant, SQL or a stack', async () => {
  const token = 'plant_secret-token-of-an-operator';
  const server = await serve({
    PLANT_STORE_TOKEN: token,
    LOG_LEVEL: 'trace',
    PLANT_STORE_RATE_LIMIT: '10000',
    PLANT_STORE_TRUST_PROXY: '127.0.0.1',
    ...bug,
  });
  const responses: string[] = [];
  const send = async (json: string, headers: Record<string, string> = {}) => {
    for (const surface of surfaces) {
      const { status, output, message } = await surface.send(server, json, headers);
      responses.push(`${status} ${JSON.stringify(output)} ${message}`);
    }
  };
  await send(plant);
  await send('{"id":1,"name":"secret-content"}');
  await send('{"id":"1"}');
  await send('not json');
  await send('{}', { authorization: 'Bearer plant_another-secret-token' });
  await send('{}', { authorization: `Basic ${token}` });
  const jwt = 'eyJhbGciOiJFUzI1NiJ9.secret-token.c2lnbmF0dXJl';
  const encoded = ['%5F', '%255F', '%25255f'].map((each) => token.replace('_', each));
  for (const each of [token, jwt, ...encoded]) {
    for (const path of [`/${each}`, `/plants/${each}`, `/%ff${each}`, `/trpc/${each}`]) {
      const response = await fetch(server.url + path, { headers: { 'x-request-id': each } });
      responses.push(await response.text(), String(response.headers.get('x-request-id')));
    }
    for (const type of [each, `text/plain; token=${each}`, `application/json; charset=${each}`]) {
      await send('{}', { 'content-type': type, 'x-request-id': `id-${each}` });
    }
    await send('{}', { 'content-encoding': each });
    await send('{}', { origin: each, 'user-agent': each, 'x-forwarded-for': each });
  }
  responses.push(await (await fetch(`${server.url}/plants?access_token=${token}`)).text());
  responses.push(`500 ${await (await get(server, '/plants/99999')).text()}`);
  await runSql(server.databaseUrl, 'drop table plants, access_tokens');
  await send('{"id":2,"name":"secret-content"}');
  await send('{"id":2,"name":"x"}', { authorization: 'Bearer plant_third-secret-token' });
  responses.push(await (await fetch(`${server.url}/readyz`)).text());
  await stopProgram(server);

  const statuses = new Set(responses.map((response) => response.slice(0, 3)));
  for (const status of ['200', '400', '401', '409', '415', '500', '503']) {
    expect(statuses).toContain(status);
  }
  const everything = [...responses, server.output()].join('\n');
  const sha256 = createHash('sha256').update(token).digest('hex');
  for (const secret of ['secret-token', 'secret-content', sha256]) {
    expect(everything).not.toContain(secret);
  }
  expect(everything).not.toMatch(/insert into|select |from "|params:|\$1/i);
  expect(everything).not.toMatch(/"stack"|\\n +at |node_modules/);
});
