import { expect, it, onTestFinished, vi } from 'vitest';
import { shareServer } from '../fixtures/server.ts';
import { get } from '../fixtures/surfaces.ts';

const server = shareServer();

it('at most 1,000 requests wait for changes, and other requests still get their response', async () => {
  const { next } = Object(await (await get(server, '/plants/changes')).json());
  const client = new AbortController();
  onTestFinished(() => client.abort());
  const errors: number[] = [];
  for (let i = 0; i < 1_001; i++) {
    void fetch(`${server.url}/plants/changes?after=${next}&wait=20`, {
      headers: { authorization: `Bearer ${server.token}` },
      signal: client.signal,
    })
      .then(async (response) => errors.push(Object(await response.json()).error))
      .catch(() => {});
  }
  await vi.waitFor(() => expect(errors).toEqual([50301]));
  expect((await get(server, '/plants')).status).toBe(200);
});
