import { createPlantStoreClient } from '@plant-store/client';
import { createDatabase, startFaultProxy, startOnPostgres } from '@plant-store/test-setup';
import { expect, inject, it, onTestFinished } from 'vitest';
import { importFile } from '../../src/import/import-file.ts';

it('stops waiting for the server when that is back and does not accept the plant', async () => {
  const server = await startOnPostgres(await createDatabase(inject('postgresUrl')));
  onTestFinished(server.stop);
  const { PLANT_STORE_URL, PLANT_STORE_TOKEN: token } = server.env;
  const proxy = await startFaultProxy(PLANT_STORE_URL);
  onTestFinished(proxy.close);
  const client = createPlantStoreClient({ url: proxy.url, token });
  await client.createPlant.mutate({ id: 1, name: 'The owner of the id' });

  proxy.fault = 'refuse';
  const waited: boolean[] = [];
  const reasons: string[] = [];
  await importFile({
    client,
    blocks: (async function* () {
      yield { rows: [{ row: 1, plant: { id: 1, name: 'Too late' } }], bytes: 1 };
    })(),
    signal: new AbortController().signal,
    onStep: ({ rejected }) => reasons.push(...rejected.map(({ reason }) => reason)),
    onWaiting(isWaiting) {
      waited.push(isWaiting);
      proxy.fault = 'none';
    },
  });
  expect(reasons).toEqual(['id 1 belongs to another plant: choose an id that is free']);
  expect(waited).toEqual([true, false]);
});
