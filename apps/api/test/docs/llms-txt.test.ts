import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RunningServer, startServer } from '../fixtures/running-server.ts';

let server: RunningServer;

beforeAll(async () => {
  server = await startServer('Postgres');
});

afterAll(() => server.stop());

it('lists the pages for language models, and the addresses of a running store', async () => {
  const response = await fetch(`${server.url}/llms.txt`);
  expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  const served = [...(await response.text()).matchAll(/\]\((\.\/[^)]+)\)/g)];
  expect(served).toHaveLength(3);
  for (const [, path = ''] of served) {
    expect((await fetch(new URL(path, response.url))).status).toBe(200);
  }
});
