import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RunningServer, startServer } from '../fixtures/running-server.ts';
import { post } from '../fixtures/surfaces.ts';

let server: RunningServer;

beforeAll(async () => {
  server = await startServer('Postgres');
});

afterAll(() => server.stop());

const message = "the batch has 11 calls: send at most 10, which tRPC's links do with maxItems: 10";

it.each([{}, { 'trpc-accept': 'application/jsonl' }])(
  'says what to do about a batch of more than ten calls (%j)',
  async (headers) => {
    const path = `/trpc/${Array(11).fill('createPlant').join()}?batch=1`;
    const response = await post(server, path, '{}', headers);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { json: { message, data: { error: 40002 } } },
    });
  },
);

it('says so for a batch of queries, too', async () => {
  const path = `/trpc/${Array(11).fill('nothing').join()}?input=%7B%7D&batch=1`;
  const authorization = `Bearer ${server.token}`;
  const response = await fetch(server.url + path, { headers: { authorization } });
  expect(await response.json()).toMatchObject({ error: { json: { message } } });
});
