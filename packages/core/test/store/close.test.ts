import { describe, expect, it, onTestFinished } from 'vitest';
import { openPlantStore } from '../../src/index.ts';
import { holdOpen, openForTest } from '../fixtures/open-store.ts';
import { endOf, newPlants } from '../fixtures/plants.ts';
import { profiles } from '../fixtures/profiles.ts';

describe.each(profiles)('close on $name', (profile) => {
  async function open() {
    const { options, remove } = await profile.create();
    onTestFinished(remove);
    return { options, store: await openPlantStore(options, { requireConnection: true }) };
  }

  it('waits for all earlier creates, and keeps their plants', async () => {
    const { options, store } = await open();
    const plants = newPlants(500);
    const creates = plants.map((plant) => store.create(plant));
    const many = store.createMany(newPlants(500));
    const closed = Promise.all([store.close(), store.close()]);
    expect(await Promise.all(creates)).toHaveLength(500);
    expect((await many).every((outcome) => 'result' in outcome)).toBe(true);
    await closed;
    const again = await openPlantStore(options, { requireConnection: true });
    expect(await again.count()).toMatchObject({ count: 1_000 });
    for (const plant of plants.slice(0, 3)) {
      await expect(again.create({ ...plant, name: 'other' })).rejects.toMatchObject({
        code: 40900,
      });
      expect(await again.create(plant)).toEqual({ name: 'x' });
    }
    await again.close();
  });

  it('rejects later calls, and ends the waits for changes', async () => {
    const { store } = await open();
    const after = await endOf(store);
    const waiting = store.changes({ after, wait: 20 });
    await store.close();
    expect(await waiting).toEqual({ changes: [], next: after });
    const [plant = { id: 0n, name: '' }] = newPlants(1);
    const shuttingDown = {
      kind: 'shuttingDown',
      message: 'the store is closing: nothing was written, send the request again later',
    };
    expect(await store.createMany([plant])).toMatchObject([{ id: plant.id, error: shuttingDown }]);
    for (const call of [
      () => store.create(plant),
      () => store.get(1n),
      () => store.list({ limit: 1 }),
      () => store.delete(1n),
    ]) {
      await expect(call()).rejects.toMatchObject(shuttingDown);
    }
  });

  if (!profile.hasSql) return;

  it('waits for a running replacement', async () => {
    const { store, sql } = await openForTest(profile);
    const [plant = { id: 0n, name: '' }] = newPlants(1);
    await store.create(plant);
    await store.replace(plant.id, { name: 'old' });
    const release = await holdOpen(sql, `select from plants where id = ${plant.id} for update`);
    const replaced = store.replace(plant.id, { name: 'new' });
    const closed = store.close();
    const locked = () => sql.unsafe(profile.selectLockWaits);
    await expect.poll(locked).toHaveLength(1);
    await release();
    expect(await replaced).toMatchObject({ name: 'new' });
    await closed;
  });
});
