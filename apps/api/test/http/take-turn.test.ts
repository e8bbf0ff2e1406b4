import { expect, it, onTestFinished, vi } from 'vitest';
import { startCreateFlood } from '../faults/request-flood.ts';
import { startServer } from '../fixtures/running-server.ts';

// The clients are in the server's own process, so their creates arrive in one turn of its event loop.
it('on both surfaces, rejects with 50301 the creates that have waited four seconds for their turn', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  let waited = 0;
  const server = await startServer('Postgres', {
    async create(plant) {
      if (waited === 0) vi.advanceTimersByTime(4_001);
      waited = 4_001;
      return plant;
    },
  });
  const flood = await startCreateFlood(server, 400);
  await vi.waitFor(() => expect(flood.outcomes['503 50301']).toBe(400 - 128), { timeout: 60_000 });
  await flood.stop();
  await server.stop();
  expect(Object.keys(flood.outcomes).toSorted()).toEqual(['200', '503 50301']);
  expect(flood.withoutRetryAfter).toBe(0);
});

it('rejects no create in a burst', async () => {
  const server = await startServer('Postgres', { create: async (plant) => plant });
  const flood = await startCreateFlood(server, 1_000);
  await vi.waitFor(() => expect(flood.acknowledged.length).toBeGreaterThan(2_000), {
    timeout: 60_000,
  });
  await flood.stop();
  await server.stop();
  expect(Object.keys(flood.outcomes)).toEqual(['200']);
});
