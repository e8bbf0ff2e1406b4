import { runSql } from '@plant-store/test-setup';
import { expect, it } from 'vitest';
import { shareServer, startServer } from '../fixtures/running-server.ts';

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

it('responds that the server is alive but not ready when the table of plants is missing', async () => {
  const unready = await startServer();
  await runSql(unready.databaseUrl, 'drop table plants');
  expect((await fetch(`${unready.url}/livez`)).status).toBe(200);
  const response = await fetch(`${unready.url}/readyz`);
  expect(response.status).toBe(503);
  expect(response.headers.get('retry-after')).toBe('1');
  expect(await response.json()).toEqual({ error: 50300, message: expect.any(String) });
  await unready.stop();
});
