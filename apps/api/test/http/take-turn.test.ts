import { expect, it, onTestFinished, vi } from 'vitest';
import { startCreateFlood } from '../faults/request-flood.ts';
import { startServer } from '../fixtures/running-server.ts';

// The clients run in the process of the server, so their creates arrive in one turn of the event loop.
it('rejects a create with 50301 over REST and tRPC when the create has waited four seconds for a turn', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  let waited = 0;
  const server = await startServer({
    async create(plant) {
      if (waited === 0) vi.advanceTimersByTime(4_001);
      waited = 4_001;
      return plant;
    },
  });
  const flood = await startCreateFlood(server, 400);
  await vi.waitFor(() => expect(flood.outcomes['503 50301']).toBeGreaterThan(0));
  await flood.stop();
  await server.stop();
  expect(Object.keys(flood.outcomes).toSorted()).toEqual(['200', '503 50301']);
  expect(flood.withoutRetryAfter).toBe(0);
});
