import { openPlantStore } from '@plant-store/core';
import { createDatabase } from '@plant-store/test-setup';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { buildServer } from '../../src/server.ts';
import { type RunningServer, startServer } from '../fixtures/running-server.ts';

let server: RunningServer;

beforeAll(async () => {
  server = await startServer('Postgres');
});

afterAll(() => server.stop());

it.each([
  ['/livez', { status: 'alive' }],
  ['/readyz', { status: 'ready' }],
])('answers %s without a token', async (path, body) => {
  const reply = await fetch(server.url + path);
  expect(reply.status).toBe(200);
  expect(reply.headers.get('content-type')).toBe('application/json');
  expect(await reply.json()).toEqual(body);
});

it('is alive but not ready while its tables are missing', async () => {
  const databaseUrl = await createDatabase(inject('postgresUrl'));
  const store = await openPlantStore({ databaseUrl });
  const sql = postgres(databaseUrl);
  await sql`drop table plants`;
  await sql.end();
  const unready = await buildServer({ store, logLevel: 'silent' });
  expect((await unready.inject('/livez')).statusCode).toBe(200);
  const reply = await unready.inject('/readyz');
  expect(reply.statusCode).toBe(503);
  expect(reply.headers['retry-after']).toBe('1');
  expect(reply.json()).toEqual({ error: 50300, message: expect.any(String) });
  await unready.close();
  await store.close();
});

it('serves an API reference that loads nothing from elsewhere', async () => {
  const reply = await fetch(`${server.url}/docs`);
  const page = await reply.text();
  expect(reply.status).toBe(200);
  expect(reply.headers.get('content-type')).toMatch(/^text\/html/);
  expect(page).toContain('/openapi.json');
  expect(page).not.toMatch(/(src|href)="(https?:)?\/\//);
  for (const [, address = ''] of page.matchAll(/(?:src|href)="([^"]+)"/g)) {
    expect((await fetch(new URL(address, reply.url))).status).toBe(200);
  }
});

it('lets the API reference run its own scripts alone', async () => {
  const { headers } = await fetch(`${server.url}/docs/`);
  const policy = headers.get('content-security-policy');
  expect(policy).toMatch(/script-src 'self' 'sha256-[\w+/]+=*';/);
  expect(policy).toContain("default-src 'self'");
  expect(policy).toContain("frame-ancestors 'none'");
});

it.each(['/docs/', '/openapi.json'])(
  'sends %s with headers that keep it to itself',
  async (path) => {
    const { headers } = await fetch(server.url + path);
    expect(Object.fromEntries(headers)).toMatchObject({
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'strict-transport-security': expect.stringMatching(/^max-age=\d{8,}/),
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'SAMEORIGIN',
    });
    expect(headers.get('x-powered-by')).toBeNull();
    expect(headers.get('server')).toBeNull();
  },
);
