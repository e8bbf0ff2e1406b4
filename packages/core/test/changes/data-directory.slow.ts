import { cp, rename, rm } from 'node:fs/promises';
import { expect, it, onTestFinished } from 'vitest';
import { openPlantStore, type PlantStore } from '../../src/plant-store.ts';
import { embedded } from '../fixtures/databases.ts';

it.each([
  [
    'replaced the data directory by a backup',
    async (backup: string, directory: string) => {
      await rm(directory, { recursive: true });
      await rename(backup, directory);
    },
  ],
  [
    'copied a backup over the data directory',
    (backup: string, directory: string) =>
      cp(backup, directory, { recursive: true, preserveTimestamps: true }),
  ],
])('notices that somebody %s', async (_, putBack) => {
  const { options, remove } = await embedded.provide();
  const { dataDirectory } = options;
  const backup = `${dataDirectory}-backup`;
  onTestFinished(remove);
  onTestFinished(() => rm(backup, { recursive: true, force: true }));
  const using = async <T>(use: (store: PlantStore) => Promise<T>) => {
    const store = await openPlantStore(options);
    return use(store).finally(() => store.close());
  };

  await using((store) => store.create({ id: 1n, name: 'Hoya' }));
  await cp(dataDirectory, backup, { recursive: true });
  const { next } = await using(async (store) => {
    await store.create({ id: 2n, name: 'Ficus' });
    return store.changes({});
  });
  await putBack(backup, dataDirectory);
  await using(async (store) => {
    for (let id = 10n; id < 20n; id++) await store.create({ id, name: 'another' });
    await expect(store.changes({ after: next })).rejects.toMatchObject({ code: 41000 });
  });
});
