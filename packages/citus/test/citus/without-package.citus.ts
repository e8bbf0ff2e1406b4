import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openPlantStore } from '../../../core/src/plant-store.ts';
import {
  createDistributedDatabase,
  createEmptyDatabase,
} from '../fixtures/distributed-database.ts';

describe('core without the package citus, on a Citus cluster', () => {
  it.each(['the coordinator', 'a worker'])(
    'stores plants through %s, and warns only once',
    async (node) => {
      const { url, workerUrls } = await createDistributedDatabase();
      const databaseUrl = node === 'a worker' ? (workerUrls[0] ?? '') : url;
      const store = await openPlantStore({ databaseUrl });
      onTestFinished(() => store.close());
      const warnings: string[] = [];
      store.events.on('warning', (message) => warnings.push(message));
      await vi.waitFor(() => {
        expect(warnings).toEqual([
          expect.stringContaining('pass `cluster: citus` of @plant-store/citus'),
        ]);
      });

      const plant = { id: 1n, name: 'Hoya', tag: 'Apocynaceae' };
      await Promise.all([store.create(plant), store.create({ id: 2n, name: 'Ficus' })]);
      await store.create(plant);
      await expect(store.create({ id: 1n, name: 'Ficus' })).rejects.toMatchObject({
        kind: 'idTaken',
      });
      const many = Array.from({ length: 300 }, (_, i) => ({
        id: BigInt(i + 3),
        name: `plant ${i}`,
      }));
      const outcomes = await store.createMany(many);
      expect(outcomes.filter((each) => 'result' in each && each.result === 'created')).toHaveLength(
        300,
      );
      expect(await store.load([{ id: 303n, name: 'Aloe' }])).toEqual(['created']);
      expect(await store.get(1n)).toMatchObject(plant);
      expect(await store.countUpTo(1_000)).toBe(303);
      expect(await store.delete(1n)).toBe(true);
      expect(await store.delete(1n)).toBe(false);
      expect(await store.deleteMany([2n, 3n, 3_000n])).toBe(2);
      expect(await store.countUpTo(1_000)).toBe(300);
      expect(warnings).toHaveLength(1);
    },
  );

  it('rejects the URL of a worker before the plants are distributed', async () => {
    const { workerUrls } = await createEmptyDatabase();
    await expect(openPlantStore({ databaseUrl: workerUrls[0] ?? '' })).rejects.toMatchObject({
      name: 'DatabaseSettingsError',
      message: expect.stringContaining('use the URL of the coordinator'),
    });
  });

  it('confirms a delete to only one of two clients that delete a plant at the same time', async () => {
    const { url, workerUrls } = await createDistributedDatabase();
    const [store, other] = await Promise.all(
      [url, workerUrls[0] ?? ''].map((databaseUrl) => openPlantStore({ databaseUrl })),
    );
    onTestFinished(() => Promise.all([store?.close(), other?.close()]).then(() => {}));
    const ids = Array.from({ length: 50 }, (_, i) => BigInt(i));
    await store?.createMany(ids.map((id) => ({ id, name: 'Hoya' })));
    for (const id of ids) {
      const outcomes = await Promise.all([store?.delete(id), other?.delete(id)]);
      expect(outcomes.toSorted()).toEqual([false, true]);
    }
  });
});
