import { openPlantStore } from '@plant-store/core';
import { startFaultProxy } from '@plant-store/test-setup';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { type PlantsDatabase, setSetting } from './plants-database.ts';
import { startDatabase } from './store-under-load.ts';

let database: PlantsDatabase;

beforeEach(async () => {
  database = await startDatabase();
});

/** Returns the number of sessions of the store. */
async function sessions(): Promise<number> {
  const { length } = await database.admin`
    select from pg_stat_activity where application_name like 'plant-store process%'`;
  return length;
}

/** Counts the sessions until `end` is settled. Resolves with the highest number. */
async function mostSessions(end: Promise<unknown>): Promise<number> {
  let most = 0;
  let isOver = false;
  const settled = end.finally(() => {
    isOver = true;
  });
  while (!isOver) most = Math.max(most, await sessions());
  await settled;
  return most;
}

it('a store opens at most six sessions while the standby is down, and `close` ends all sessions', async () => {
  const store = await openPlantStore({ databaseUrl: database.url });
  await store.create({ id: -1n, name: 'x' });
  await setSetting(database, "set synchronous_standby_names = 'nobody'");
  const load = Array.from({ length: 50 }, async (_, client) => {
    let late = 0;
    for (let i = 0; late < 2; i++) {
      await store.create({ id: BigInt(1_000_000 * client + i), name: 'x' }).catch(() => late++);
    }
  });
  const most = await mostSessions(Promise.all(load));
  expect(most).toBeLessThanOrEqual(6);
  expect(most).toBeGreaterThan(1);

  await store.close();
  await vi.waitFor(async () => expect(await sessions()).toBe(0));
});

it('the database has no dead session after the network has silently cut all connections three times', async () => {
  const proxy = await startFaultProxy(database.url);
  onTestFinished(proxy.close);
  const store = await openPlantStore({ databaseUrl: proxy.url });
  onTestFinished(store.close);
  const ids = Array.from({ length: 12 }, (_, i) => BigInt(i));
  const cuts = async () => {
    for (let cut = 0; cut < 3; cut++) {
      await vi.waitFor(async () => {
        const creates = ids.map((id) => store.create({ id, name: 'x' }));
        const reads = ids.flatMap((id) => [store.get(id), store.list({ limit: 100 })]);
        await Promise.all([...creates, ...reads]);
      });
      proxy.forget();
    }
    await vi.waitFor(() => store.create({ id: 1n, name: 'x' }));
  };
  expect(await mostSessions(cuts())).toBeLessThanOrEqual(12);
  await expect.poll(sessions).toBeLessThanOrEqual(6);
});
