import { createDatabase, type FaultProxy, startFaultProxy } from '@plant-store/test-setup';
import { beforeEach, expect, inject, it, onTestFinished } from 'vitest';
import { deadlineIn } from '../../src/database/deadline.ts';
import { openPlantStore, type PlantStore } from '../../src/plant-store.ts';

// A firewall that has forgotten a connection drops the data, and tells neither the store nor the database.

let network: FaultProxy;
let store: PlantStore;
let lastId: bigint;

beforeEach(async () => {
  network = await startFaultProxy(await createDatabase(inject('postgresUrl')));
  store = await openPlantStore({ databaseUrl: network.url });
  onTestFinished(async () => {
    await store.close();
    network.close();
  });
  lastId = 0n;
  await createPlant();
  await Promise.all([
    createPlant(),
    createPlant(),
    store.get(1n),
    store.list({ limit: 100 }),
    store.delete(1n),
  ]);
});

/** Forgets all connections. New connections wait until the fault ends. */
function forgetAll(): void {
  network.forget();
  network.fault = 'hold';
}

const createPlant = (deadline?: number) => {
  const id = ++lastId;
  return store.create({ id, name: `plant ${id}` }, { deadline });
};

it('rejects one create of each client, and stores the next plant of each client', async () => {
  forgetAll();
  const clients = Array.from({ length: 200 }, () => createPlant(deadlineIn(300)));
  const error = { status: 'rejected', reason: { code: 50300 } };
  expect(await Promise.allSettled(clients)).toMatchObject(clients.map(() => error));
  network.fault = 'none';
  await Promise.all(clients.map(() => createPlant()));
  expect(await store.countUpTo(1_000)).toBe(202);
});

it('replaces all connections of the store when a firewall has forgotten one connection', async () => {
  forgetAll();
  await expect(store.get(2n, { deadline: deadlineIn(300) })).rejects.toMatchObject({ code: 50300 });
  network.fault = 'none';
  expect(await store.get(2n)).toBeDefined();
  expect(await store.delete(2n)).toBe(true);
  await createPlant();
  expect((await store.list({ limit: 100 })).plants).toHaveLength(2);
});
