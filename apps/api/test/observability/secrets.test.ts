import { createHash } from 'node:crypto';
import { scopes } from '@plant-store/schemas';
import { runSql } from '@plant-store/test-setup';
import { expect, it } from 'vitest';
import { startServer } from '../fixtures/running-server.ts';
import { surfaces } from '../fixtures/surfaces.ts';

const token = 'plant_secret-token';

it('the responses and the log contain no token, no value, no SQL and no stack trace', async () => {
  const server = await startServer({
    authenticate: () => ({ name: 'Ann', scopes }),
    logLevel: 'trace',
    rateLimit: 1000,
    trustProxy: ['127.0.0.1'],
  });
  const { url, log, store } = server;
  const target = { url, token };
  const responses: string[] = [];
  const send = async (json: string, headers: Record<string, string> = {}) => {
    for (const surface of surfaces) {
      const { status, body } = await surface.send(target, json, headers);
      responses.push(`${status} ${JSON.stringify(body)}`);
    }
  };

  await send('{"id":1,"name":"x"}');
  await send('{"id":1,"name":"secret-content"}');
  await send('{"id":"1"}');
  await send('not json');
  await send('{}', { authorization: 'Bearer plant_another-secret-token' });
  await send('{}', { authorization: `Basic ${token}` });
  await send('{}', { 'content-type': 'text/plain' });
  const jwt = 'eyJhbGciOiJFUzI1NiJ9.secret-token.c2lnbmF0dXJl';
  const encoded = ['%5F', '%5f', '%255F', '%25255f'].map((each) => token.replace('_', each));
  for (const each of [token, jwt, ...encoded]) {
    const headers = { 'x-request-id': each };
    for (const method of ['GET', 'PUT'] as const) {
      for (const path of [`/${each}`, `/plants/${each}`, `/%ff${each}`, `/trpc/${each}`]) {
        const response = await fetch(url + path, { method, headers });
        responses.push(await response.text(), String(response.headers.get('x-request-id')));
      }
    }
    const parameters = [`text/plain; token=${each}`, `application/json; charset=${each}`];
    for (const type of [each, `application/${each}`, ...parameters]) {
      await send('{}', { 'content-type': type, 'x-request-id': `id-${each}` });
    }
    await send('{}', { 'content-encoding': each, host: each });
    await send('{}', { origin: each, 'user-agent': each, 'x-forwarded-for': each });
  }
  responses.push(await (await fetch(`${url}/plants?access_token=${token}`)).text());
  await runSql(server.databaseUrl, 'drop table plants, access_tokens');
  await send('{"id":2,"name":"secret-content"}');
  await send('{"id":2,"name":"x"}', { authorization: 'Bearer plant_third-secret-token' });
  responses.push(await (await fetch(`${url}/readyz`)).text());
  Object.assign(store, { create: () => undefinedFunction() });
  await send('{"id":3,"name":"x"}');
  await server.stop();

  const statuses = new Set(responses.map((response) => response.slice(0, 3)));
  for (const status of ['200', '400', '401', '409', '415', '500', '503']) {
    expect(statuses).toContain(status);
  }
  const everything = [...responses, ...log].join('\n');
  const sha256 = createHash('sha256').update(token).digest('hex');
  for (const secret of ['secret-token', 'secret-content', sha256]) {
    expect(everything).not.toContain(secret);
  }
  expect(everything).not.toMatch(/insert into|select |from "|params:|\$1/i);
  expect(everything).not.toMatch(/"stack"|\\n +at |node_modules/);
});

function undefinedFunction(): never {
  throw new ReferenceError('something is not defined');
}
