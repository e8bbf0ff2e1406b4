import { startPostgres, type TestPostgres } from '@plant-store/test-setup';
import { beforeAll, describe, expect, it } from 'vitest';
import { openPlantStore, type PlantStore } from '../../src/index.ts';
import { openAnother } from '../fixtures/open-store.ts';
import { endOf, newPlants, summaryOf } from '../fixtures/plants.ts';

describe('a read replica', () => {
  const [plant = { id: 0n, name: '' }, later = { id: 0n, name: '' }] = newPlants(2);
  let primary: TestPostgres;
  let standby: TestPostgres;
  let after: string;
  let token: string;

  beforeAll(async () => {
    primary = await startPostgres({ fsync: 'off' });
    const store = await openPlantStore({ databaseUrl: primary.url }, { requireConnection: true });
    await store.create(plant);
    token = await store.accessTokens.create('Ann');
    after = await endOf(store);
    await store.close();
    standby = await primary.startStandby();
    return async () => {
      await standby.stop();
      await primary.stop();
    };
  });

  const openReadOnly = () => openAnother(standby.url);

  it('serves plants, lists, counts and access tokens', async () => {
    const store = await openReadOnly();
    await expect.poll(() => store.get(plant.id).catch(() => {})).toMatchObject(plant);
    expect((await store.list({ limit: 10 })).plants).toMatchObject([plant]);
    expect((await store.list({ limit: 10, search: 'x' })).plants).toHaveLength(1);
    expect(await store.count()).toMatchObject({ count: 1 });
    expect(await store.accessTokens.authenticate(token)).toMatchObject({ name: 'Ann' });
    expect((await store.accessTokens.list()).tokens).toHaveLength(1);
  });

  it('accepts no writes', async () => {
    const store = await openReadOnly();
    for (const write of [() => store.create(later), () => store.delete(plant.id)]) {
      await expect(write()).rejects.toMatchObject({ code: 50300 });
    }
    expect(await store.get(plant.id)).toMatchObject(plant);
  });

  it('has no feed', async () => {
    const store = await openReadOnly();
    const noFeed = { code: 50100, message: expect.stringContaining('read replica') };
    await expect(store.changes({})).rejects.toMatchObject(noFeed);
    await expect(store.changes({ after })).rejects.toMatchObject(noFeed);
    await expect(store.follow().next()).rejects.toMatchObject(noFeed);
  });

  it('is not used when the URL also names the primary', async () => {
    const { host } = new URL(standby.url);
    const both = primary.url.replace('@', `@${host},`);
    const store = await openAnother(both, { requireConnection: true });
    expect(await store.create(later)).toEqual({ name: later.name });
  });

  // This test promotes the replica, so it must be the last test.
  it('begins a new feed when it is promoted', async () => {
    const replica = await openReadOnly();
    await standby.promote();
    const promoted = await openUntilWritable();
    const expired = { code: 41000 };
    await expect(promoted.changes({ after })).rejects.toMatchObject(expired);
    await expect.poll(() => replica.changes({ after }).catch((e) => e)).toMatchObject(expired);
    const next = await endOf(promoted);
    const [another = plant] = newPlants(1);
    await promoted.create(another);
    expect(summaryOf(await promoted.changes({ after: next, wait: 20 }))).toEqual([
      `created ${another.id}`,
    ]);
    const old = await openAnother(primary.url);
    await expect(old.changes({ after: next })).rejects.toMatchObject(expired);
  });

  async function openUntilWritable(): Promise<PlantStore> {
    const store = await openAnother(standby.url);
    await expect.poll(() => store.ready().catch(() => 'down')).toBe(undefined);
    return store;
  }
});
