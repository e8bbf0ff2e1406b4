import { createDatabase, hasPgBouncer, startPgBouncer } from '@plant-store/test-setup';
import { beforeEach, describe, expect, inject, it } from 'vitest';
import { connectForTest, openAnother } from '../fixtures/open-store.ts';
import { changesAfter, createAll, endOf, newPlants, summaryOf } from '../fixtures/plants.ts';

describe.runIf(hasPgBouncer)('a store behind PgBouncer in transaction mode', () => {
  let direct: string;
  let pooled: string;

  beforeEach(async () => {
    direct = await createDatabase(inject('postgresUrl'));
    // A store opens more connections than PgBouncer has sessions, so the connections share the sessions.
    const pgBouncer = await startPgBouncer(direct, 3);
    pooled = `${pgBouncer.url}?pgbouncer=true`;
    return () => pgBouncer.stop();
  });

  it('creates, finds, lists, deletes and follows plants', async () => {
    const store = await openAnother(pooled);
    const after = await endOf(store);
    const plants = newPlants(200, { name: 'Hoya', tag: 'herb' });
    await Promise.all(plants.map((plant) => store.create(plant)));
    const [first = { id: 0n, name: '' }, second = { id: 0n, name: '' }] = plants;
    await expect(store.create({ ...first, name: 'other' })).rejects.toMatchObject({ code: 40900 });
    expect(await store.get(first.id)).toMatchObject(first);
    expect((await store.list({ limit: 1_000, tag: 'herb' })).plants).toHaveLength(200);
    expect((await store.list({ limit: 1_000, search: 'OY' })).plants).toHaveLength(200);
    expect(await store.count()).toMatchObject({ count: 200 });
    expect(await store.delete(first.id)).toBe(true);
    expect((await changesAfter(store, after, 200)).changes.length).toBeGreaterThanOrEqual(200);
    const waiting = store.changes({ after: await endOf(store), wait: 20 });
    await store.delete(second.id);
    expect(summaryOf(await waiting)).toEqual([`deleted ${second.id}`]);
    const token = await store.accessTokens.create('Ann');
    expect(await store.accessTokens.authenticate(token)).toMatchObject({ name: 'Ann' });
  });

  it('shares the sessions of PgBouncer with another store', async () => {
    const stores = [await openAnother(pooled), await openAnother(pooled)];
    const other = connectForTest(`${direct}`);
    for (const store of stores) {
      await createAll(store, newPlants(500));
      expect(await other`select set_config('search_path', 'public', false)`).toHaveLength(1);
    }
    expect(await stores[0]?.count()).toMatchObject({ count: 1_000 });
  });

  it('continues after PgBouncer has lost its sessions', async () => {
    const store = await openAnother(pooled);
    const plants = newPlants(2);
    await createAll(store, plants.slice(0, 1));
    await connectForTest(direct)`
      select pg_terminate_backend(pid, 5000) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`;
    const [, second = { id: 0n, name: '' }] = plants;
    await expect.poll(() => store.create(second).catch(() => {})).toEqual({ name: 'x' });
    await expect.poll(() => store.count().catch(() => {})).toMatchObject({ count: 2 });
  });
});
