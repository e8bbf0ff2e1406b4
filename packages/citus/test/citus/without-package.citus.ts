import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { deadlineIn } from '../../../core/src/database/deadline.ts';
import { openPlantStore } from '../../../core/src/plant-store.ts';
import { createPlantStatements } from '../../../core/src/plants/statements.ts';
import { openPostgres } from '../../../core/src/postgres/postgres-database.ts';
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

  it('writes nothing after the deadline', async () => {
    const { url } = await createDistributedDatabase();
    const store = await openPlantStore({ databaseUrl: url });
    onTestFinished(() => store.close());
    await store.create({ id: 1n, name: 'Hoya' });
    const late = { deadline: performance.now() - 60_000 };
    await expect(store.create({ id: 2n, name: 'late' }, late)).rejects.toMatchObject({
      code: 50300,
    });
    await store.delete(1n, late).catch(() => {});
    expect(await store.countUpTo(10)).toBe(1);
  });

  it('does not report a plant as missing when the delete is late by the clock of the database', async () => {
    const { url } = await createDistributedDatabase();
    const database = await openPostgres(url);
    onTestFinished(() => database.close());
    const inThePast = '2026-01-01T00:00:00Z';
    const statements = createPlantStatements({
      ...database,
      write: (text, values, options) =>
        database.write(text, typeof values === 'function' ? values(inThePast) : values, options),
    });
    const { insert, delete: remove } = createPlantStatements(database);
    const plant = { id: 1n, name: 'Hoya' };
    await insert([plant], deadlineIn(5_000));
    const late = statements.delete(plant.id);
    await expect(late).rejects.toMatchObject({ kind: 'databaseUnavailable' });
    expect(await remove(plant.id)).toBe(true);
    expect(await statements.delete(plant.id)).toBe(false);
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
