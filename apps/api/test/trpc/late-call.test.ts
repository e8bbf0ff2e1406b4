import type { AppRouter } from '@plant-store/core/router';
import { createTRPCClient, httpBatchLink, httpBatchStreamLink } from '@trpc/client';
import superjson from 'superjson';
import { expect, it, onTestFinished, vi } from 'vitest';
import { shareServer, startServerOn } from '../fixtures/running-server.ts';

const server = shareServer();

/** Sends a batch of ten creates. The last create waits until `release` is called. */
async function sendBatch(link: typeof httpBatchLink | typeof httpBatchStreamLink, firstId: bigint) {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const ids = Array.from({ length: 10 }, (_, i) => firstId + BigInt(i));
  const { url, token, stop } = await startServerOn(server.store, {
    async create(plant, options) {
      if (plant.id === ids.at(-1)) await released;
      return server.store.create(plant, options);
    },
  });
  onTestFinished(stop);
  const headers = { authorization: `Bearer ${token}` };
  const client = createTRPCClient<AppRouter>({
    links: [link({ url: `${url}/trpc`, transformer: superjson, headers })],
  });
  const settled: bigint[] = [];
  const creates = ids.map(async (id) => {
    await client.createPlant.mutate({ id, name: 'x' });
    settled.push(id);
  });
  return { ids, creates, settled, release };
}

it('responds to a call of httpBatchStreamLink before the other calls of the batch are done', async () => {
  const { ids, creates, settled, release } = await sendBatch(httpBatchStreamLink, 1n);
  await Promise.all(creates.slice(0, -1));
  expect(settled.toSorted()).toEqual(ids.slice(0, -1));
  release();
  await Promise.all(creates);
});

it('responds to all calls of httpBatchLink together, when the last call is done', async () => {
  const { ids, creates, settled, release } = await sendBatch(httpBatchLink, 101n);
  await vi.waitFor(async () => {
    const plants = await Promise.all(ids.slice(0, -1).map((id) => server.store.get(id)));
    expect(plants).not.toContain(undefined);
  });
  expect(settled).toEqual([]);
  release();
  await Promise.all(creates);
});
