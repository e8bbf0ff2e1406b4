import { createHash } from 'node:crypto';
import { openPlantStore } from '@plant-store/core';
import { scopes } from '@plant-store/schemas';
import { createDatabase } from '@plant-store/test-setup';
import postgres from 'postgres';
import { expect, inject, it } from 'vitest';
import { buildServer } from '../../src/server.ts';
import { surfaces } from '../fixtures/surfaces.ts';

const token = 'plant_secret-token-that-nobody-may-see';

it('neither a reply nor a log line has a token, SQL or a stack in it, whatever goes wrong', async () => {
  const databaseUrl = await createDatabase(inject('postgresUrl'));
  const store = await openPlantStore({ databaseUrl });
  const log: string[] = [];
  const logStream = { write: (line: string) => log.push(line) };
  const server = await buildServer({
    store,
    authenticate: () => ({ name: 'Ann', scopes }),
    logLevel: 'trace',
    logStream,
    rateLimit: 1000,
  });
  const url = await server.listen({ port: 0 });
  const target = { url, token };
  const replies: string[] = [];
  const send = async (json: string, headers: Record<string, string> = {}) => {
    for (const surface of surfaces) {
      const { status, body } = await surface.send(target, json, headers);
      replies.push(`${status} ${JSON.stringify(body)}`);
    }
  };

  await send('{"id":1,"name":"x"}');
  await send('{"id":1,"name":"secret-content"}');
  await send('{"id":"1"}');
  await send('not json');
  await send('{}', { authorization: 'Bearer plant_another-secret-token' });
  await send('{}', { authorization: `Basic ${token}` });
  await send('{}', { 'content-type': 'text/plain' });
  replies.push(await (await fetch(`${url}/plants?access_token=${token}`)).text());
  const sql = postgres(databaseUrl);
  await sql`drop table plants, access_tokens`;
  await sql.end();
  await send('{"id":2,"name":"secret-content"}');
  await send('{"id":2,"name":"x"}', { authorization: 'Bearer plant_third-secret-token' });
  replies.push(await (await fetch(`${url}/readyz`)).text());
  Object.assign(store, { create: () => undefinedFunction() });
  await send('{"id":3,"name":"x"}');
  await server.close();
  await store.close();

  const statuses = new Set(replies.map((reply) => reply.slice(0, 3)));
  for (const status of ['200', '400', '401', '409', '415', '500', '503']) {
    expect(statuses).toContain(status);
  }
  const everything = [...replies, ...log].join('\n');
  const sha256 = createHash('sha256').update(token).digest('hex');
  for (const secret of ['secret-token', 'secret-content', sha256]) {
    expect(everything).not.toContain(secret);
  }
  expect(everything).not.toMatch(/insert into|select |from "|params:|\$1/i);
  expect(everything).not.toMatch(/"stack"|\\n +at |node_modules/);
});

it('says in its log who asked for what, and what came of it', async () => {
  const log: string[] = [];
  const store = await openPlantStore({ databaseUrl: await createDatabase(inject('postgresUrl')) });
  const server = await buildServer({ store, logStream: { write: (line) => log.push(line) } });
  const added = await store.accessTokens.create('Ann');
  const headers = { authorization: `Bearer ${added}` };
  const payload = { id: 1, name: 'x' };
  await server.inject({ method: 'POST', url: '/plants?x=1', headers, payload });
  await server.close();
  await store.close();
  expect(log.map((line) => JSON.parse(line))).toContainEqual({
    level: 30,
    time: expect.any(Number),
    pid: process.pid,
    hostname: expect.any(String),
    reqId: expect.any(String),
    method: 'POST',
    path: '/plants',
    status: 200,
    ip: '127.0.0.1',
    principal: 'Ann',
    ms: expect.any(Number),
    msg: 'request',
  });
});

it('says so where a client left before it had its answer', async () => {
  const log: string[] = [];
  const store = await openPlantStore({ databaseUrl: await createDatabase(inject('postgresUrl')) });
  const asked = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  const create = async () => {
    asked.resolve();
    await left.promise;
    return { name: 'x' };
  };
  const server = await buildServer({
    store: { ...store, create },
    authenticate: () => ({ name: 'Ann', scopes }),
    logStream: { write: (line) => log.push(line) },
  });
  const url = await server.listen({ port: 0 });
  const client = new AbortController();
  const reply = fetch(`${url}/plants`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{"id":1,"name":"x"}',
    signal: client.signal,
  });
  await asked.promise;
  client.abort();
  await expect(reply).rejects.toThrow('aborted');
  const lines = () => log.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request');
  await expect
    .poll(lines)
    .toMatchObject([
      { method: 'POST', path: '/plants', status: 499, ip: '127.0.0.1', principal: 'Ann' },
    ]);
  left.resolve();
  await server.close();
  await store.close();
  expect(lines()).toHaveLength(1);
});

function undefinedFunction(): never {
  throw new ReferenceError('something is not defined');
}
