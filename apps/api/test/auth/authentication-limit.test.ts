import { openPlantStore, type PlantStore } from '@plant-store/core';
import { createDatabase } from '@plant-store/test-setup';
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, expect, inject, it, vi } from 'vitest';
import { buildServer } from '../../src/server.ts';
import { acceptTestToken } from '../fixtures/running-server.ts';

let store: PlantStore;
let server: FastifyInstance;

beforeEach(async () => {
  store = await openPlantStore({ databaseUrl: await createDatabase(inject('postgresUrl')) });
  server = await buildServer({
    store,
    authenticate: acceptTestToken(store),
    logLevel: 'silent',
    authFailureLimit: 3,
  });
});

afterEach(async () => {
  vi.useRealTimers();
  await server.close();
  await store.close();
});

const paths = ['/plants', '/trpc/createPlant'];

interface Request {
  from?: string;
  path?: string;
  headers?: Record<string, string>;
}

const send = (
  token: string,
  { from = '192.0.2.1', path = '/plants', headers = {} }: Request = {},
) =>
  server.inject({
    method: 'POST',
    url: path,
    remoteAddress: from,
    headers: { ...(token && { authorization: `Bearer ${token}` }), ...headers },
    payload: path === '/plants' ? { id: 1, name: 'x' } : { json: { id: 1, name: 'x' } },
  });

it('rejects every request of an address that has failed too often, until the minute is over', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  for (const token of ['guess', '', 'another']) expect((await send(token)).statusCode).toBe(401);
  for (const path of paths) {
    for (const token of ['guess', '', 'test-token']) {
      const reply = await send(token, { path, headers: { 'x-forwarded-for': '192.0.2.9' } });
      expect(reply.statusCode).toBe(429);
      expect(reply.headers['retry-after']).toBe('60');
      expect(reply.body).toContain(
        'over 3 requests without a valid access token in a minute: try again in 60 seconds',
      );
    }
  }
  vi.advanceTimersByTime(60_000);
  expect((await send('test-token')).statusCode).toBe(200);
});

it('accepts requests of other addresses meanwhile', async () => {
  for (let i = 0; i < 4; i++) await send('guess');
  for (const path of paths) {
    expect((await send('test-token', { path, from: '192.0.2.2' })).statusCode).toBe(200);
  }
});

it('counts only failed authentications', async () => {
  for (let i = 0; i < 4; i++) {
    expect((await send('test-token')).statusCode).toBe(200);
    expect((await send('test-token', { path: '/nothing' })).statusCode).toBe(404);
    expect(
      (await send('test-token', { headers: { 'content-type': 'text/plain' } })).statusCode,
    ).toBe(415);
  }
});
