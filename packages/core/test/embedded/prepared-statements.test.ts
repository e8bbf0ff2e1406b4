import { expect, it, onTestFinished } from 'vitest';
import { openPlantReader } from '../../src/open-plant-reader.ts';
import { openPlantStore } from '../../src/plant-store.ts';
import { closeAtEnd, embedded } from '../fixtures/databases.ts';

it('runs the next statement unharmed after a value that is no text', async () => {
  const { options, remove } = await embedded.provide();
  onTestFinished(remove);
  await (await openPlantStore(options)).close();
  const reader = closeAtEnd(await openPlantReader(options));
  const tag: unknown = 5; // Plain JavaScript can pass any value.
  const [five, all] = await Promise.allSettled([
    reader.list({ tag: tag as string, limit: 10 }),
    reader.list({ limit: 10 }),
  ]);
  expect(five).toMatchObject({ value: { plants: [] } });
  expect(all).toMatchObject({ value: { plants: [] } });
});
