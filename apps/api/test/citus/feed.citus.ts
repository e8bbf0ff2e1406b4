import { citus } from '@plant-store/citus';
import { distributePlants } from '@plant-store/citus/operator';
import { createPlantStoreClient, followPlants, type StoredPlant } from '@plant-store/client';
import { openPlantStore } from '@plant-store/core';
import { createCitusDatabase, startCitus } from '@plant-store/test-setup';
import { expect, it, onTestFinished, vi } from 'vitest';
import { serve } from '../fixtures/program.ts';

it('sends the changes over REST and tRPC after the distribution of the plants among the workers', async () => {
  const cluster = await startCitus({ settings: { fsync: 'off' } });
  onTestFinished(() => cluster.stop());
  const { url: databaseUrl } = await createCitusDatabase(cluster.addresses);
  await (await openPlantStore({ databaseUrl, cluster: citus })).close();
  const server = await serve({ DATABASE_URL: databaseUrl, PLANT_STORE_METRICS_PORT: '0' });
  onTestFinished(() => void server.child.kill('SIGKILL'));
  const headers = { authorization: `Bearer ${server.token}` };
  const client = createPlantStoreClient({ url: server.url, token: server.token });
  let copy: StoredPlant[] = [];
  const onPlants = (plants: StoredPlant[]) => {
    copy = plants;
  };
  onTestFinished(followPlants(client, { onPlants }));
  const expectCopy = (...ids: bigint[]) =>
    vi.waitFor(() => expect(copy.map(({ id }) => id)).toEqual(ids), { timeout: 30_000 });
  const create = (id: bigint) => client.createPlant.mutate({ id, name: 'Hoya' });
  const changes = async (query: string) => {
    const response = await fetch(`${server.url}/plants/changes${query}`, { headers });
    // The cast is safe, because a response of the REST API has the property `next` or the property `error`.
    return (await response.json()) as { next?: string; error?: number };
  };

  await create(1n);
  await expectCopy(1n);
  const { next: before } = await changes('');
  await distributePlants({ databaseUrl, shards: 4, confirm: async () => true });
  await vi.waitFor(
    async () => expect(await changes(`?after=${before}`)).toMatchObject({ error: 41000 }),
    {
      timeout: 30_000,
    },
  );
  await create(2n);
  await expectCopy(1n, 2n);

  const { next } = await changes('');
  const waiting = changes(`?after=${next}&wait=20`);
  const stream = await fetch(`${server.url}/plants/changes?after=${next}`, {
    headers: { ...headers, accept: 'text/event-stream' },
  });
  await create(3n);
  expect(await waiting).toMatchObject({ changes: [{ type: 'created', plant: { id: 3 } }] });
  let events = '';
  for await (const text of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    events += text;
    if (events.includes('"id":3')) break;
  }
  await expectCopy(1n, 2n, 3n);
  const { samples } = await server.metrics();
  const lags = [...samples.keys()].filter((series) => series.startsWith('plant_store_feed_lag_'));
  expect(lags.map((series) => series.replace(/\d+/g, '0'))).toEqual(
    Array.from({ length: 2 }, () => 'plant_store_feed_lag_seconds{node="0.0.0.0:0"}'),
  );
});
