import { openPlantStore, type PlantStore } from '@plant-store/core';
import { createDatabase } from '@plant-store/test-setup';
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, expect, inject, it, vi } from 'vitest';
import { limitAuthenticationErrors } from '../../src/auth/authentication-limit.ts';
import { HttpError } from '../../src/errors/http-error.ts';
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
  vi.advanceTimersByTime(59_999);
  expect((await send('test-token')).headers['retry-after']).toBe('1');
  vi.advanceTimersByTime(1);
  expect((await send('test-token')).statusCode).toBe(200);
  for (let i = 0; i < 3; i++) expect((await send('guess')).statusCode).toBe(401);
  expect((await send('test-token')).statusCode).toBe(429);
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

it('forgets the addresses when there are a hundred thousand', async () => {
  const { checkAuthenticationErrors, countAuthenticationErrors } = limitAuthenticationErrors(1);
  // The hooks use only these parts of Fastify.
  const reply = { header: () => {} } as never;
  const request = (ip: string) => ({ ip }) as never;
  const count = (ip: string) =>
    countAuthenticationErrors.call(
      server,
      request(ip),
      reply,
      new HttpError('tokenInvalid', '') as never,
    );
  const check = async (ip: string) => checkAuthenticationErrors.call(server, request(ip), reply);

  for (let i = 0; i < 100_000; i++) await count(`address ${i}`);
  await expect(check('address 0')).rejects.toMatchObject({ kind: 'rateLimited' });
  await count('one more');
  await expect(check('one more')).rejects.toMatchObject({ kind: 'rateLimited' });
  await expect(check('address 0')).resolves.toBeUndefined();
});
