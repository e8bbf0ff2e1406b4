import { openPlantStore } from '@plant-store/core';
import { createDatabase } from '@plant-store/test-setup';
import postgres from 'postgres';
import { expect, inject, it } from 'vitest';
import { buildServer } from '../../src/server.ts';
import { shareServer } from '../fixtures/running-server.ts';

const server = shareServer();

it.each([
  ['/livez', { status: 'alive' }],
  ['/readyz', { status: 'ready' }],
])('responds to %s without a token', async (path, body) => {
  const response = await fetch(server.url + path);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(await response.json()).toEqual(body);
});

it('is alive but not ready when its tables are missing', async () => {
  const databaseUrl = await createDatabase(inject('postgresUrl'));
  const store = await openPlantStore({ databaseUrl });
  const sql = postgres(databaseUrl);
  await sql`drop table plants`;
  await sql.end();
  const unready = await buildServer({ store, logLevel: 'silent' });
  expect((await unready.inject('/livez')).statusCode).toBe(200);
  const response = await unready.inject('/readyz');
  expect(response.statusCode).toBe(503);
  expect(response.headers['retry-after']).toBe('1');
  expect(response.json()).toEqual({ error: 50300, message: expect.any(String) });
  await unready.close();
  await store.close();
});
