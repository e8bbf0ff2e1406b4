import { tmpdir } from 'node:os';
import { relative } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openPlantStore } from '../src/plant-store.ts';
import { closeAtEnd, embedded } from './fixtures/databases.ts';

it('keeps using a relative data directory after the program changes its working directory', async () => {
  const { options, remove } = await embedded.provide();
  onTestFinished(remove);
  const directory = process.cwd();
  const dataDirectory = relative(directory, options.dataDirectory);
  const store = closeAtEnd(await openPlantStore({ dataDirectory }));
  onTestFinished(() => process.chdir(directory));
  process.chdir(tmpdir());
  await store.create({ id: 1n, name: 'Hoya' });
  expect(await store.get(1n)).toMatchObject({ name: 'Hoya' });
});

it.each([{}, { dataDirectory: undefined }, { dataDirectory: '' }])(
  'names the options when plain JavaScript opens a store with %j',
  async (options) => {
    await expect(openPlantStore(options as { dataDirectory: string })).rejects.toThrow(
      'pass a databaseUrl, or the path of a dataDirectory',
    );
  },
);
