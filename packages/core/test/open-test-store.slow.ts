import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { openPlantStore, openTestStore } from '../src/index.ts';

const directories = async () =>
  (await readdir(tmpdir())).filter((name) => name.startsWith('plant-store-test-'));

it('opens several empty stores, and deletes the directories at the close', async () => {
  const before = await directories();
  const stores = [await openTestStore(), await openTestStore()];
  for (const store of stores) {
    expect(await store.list({ limit: 10 })).toEqual({ plants: [] });
    await store.create({ id: 1n, name: 'Hoya' });
  }
  for (const store of stores) await store.close();
  expect(await directories()).toEqual(before);
});

it('rejects memory:// as a directory', async () => {
  await expect(openPlantStore({ dataDirectory: 'memory://' })).rejects.toThrow(
    'memory:// is not a directory: use openTestStore',
  );
});
