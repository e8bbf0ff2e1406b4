import { setTimeout } from 'node:timers/promises';
import { hasPosixSignals } from '@plant-store/test-setup';
import { expect, it, onTestFinished, vi } from 'vitest';
import { serve } from '../fixtures/program.ts';
import { shareServer } from '../fixtures/server.ts';
import { get, post } from '../fixtures/surfaces.ts';

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

it.runIf(hasPosixSignals)(
  'a write that arrived while the process stood still gets 50301, and a read gets its response',
  async () => {
    const stopped = await serve();
    const create = () => post(stopped, '/plants', '{"id":1,"name":"x"}');
    stopped.child.kill('SIGSTOP');
    const responses = Promise.all([create(), get(stopped, '/plants/1')]);
    await setTimeout(3_000); // The server tolerates a pause of two seconds.
    stopped.child.kill('SIGCONT');
    const [write, read] = await responses;
    expect([write.status, Object(await write.json()).error]).toEqual([503, 50301]);
    expect(read.status).toBe(404);
    await vi.waitFor(async () => expect((await create()).status).toBe(200));
  },
);
