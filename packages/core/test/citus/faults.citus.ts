import { setTimeout } from 'node:timers/promises';
import type { NewPlant } from '@plant-store/schemas';
import { expect, it, onTestFinished } from 'vitest';
import type { PlantStore } from '../../src/index.ts';
import { startOwnCluster } from '../fixtures/cluster.ts';
import { connectForTest } from '../fixtures/open-store.ts';
import { changesAfter, endOf, summaryOf } from '../fixtures/plants.ts';

const unavailable = { code: 50300 };
const within = (milliseconds: number) => ({ deadline: performance.now() + milliseconds });

it('a plant is found after its create, even when a node did not receive the commit', async () => {
  const { store, workers, plantOn } = await startOwnCluster();
  const plants = [await plantOn(0), await plantOn(1)];
  await store.createMany([await plantOn(0), await plantOn(1)]); // This call connects to both workers.
  const cut = workers[0]?.proxy.loseRequest('COMMIT PREPARED');
  const outcomes = await store.createMany(plants);
  await cut;
  for (const [i, { id, name }] of plants.entries()) {
    expect(outcomes[i]).toHaveProperty('result');
    expect(await store.get(id)).toMatchObject({ name });
  }
});

it('the feed shows the change of a slow commit on a node that has lost its connections to the coordinator', async () => {
  const { store, workers, workerUrls, plantOn } = await startOwnCluster();
  const [slow, other] = [await plantOn(0), await plantOn(1)];
  await store.createMany([await plantOn(0), await plantOn(1)]);
  const after = await endOf(store);
  const worker = connectForTest(
    Object.assign(new URL(workerUrls[0] ?? ''), { username: 'postgres' }).href,
  );
  const waitForStandby = async (name: string) => {
    await worker.unsafe(`alter system set synchronous_standby_names = '${name}'`);
    await worker`select pg_reload_conf()`;
    await expect
      .poll(() => worker`show synchronous_standby_names`)
      .toMatchObject([{ synchronous_standby_names: name }]);
  };
  await waitForStandby('nobody');
  const create = store.create(slow).catch((error) => error);
  await expect
    .poll(() => worker`select from pg_stat_activity where wait_event = 'SyncRep'`)
    .not.toHaveLength(0);
  const proxy = workers[0]?.proxy;
  if (!proxy) throw new Error('there are two workers');
  proxy.fault = 'refuse';
  proxy.fault = 'none';
  await store.create(other);
  const early = await store.changes({ after, wait: 2 });
  await waitForStandby('');
  await create;
  const seen = summaryOf(early);
  const { changes } = await changesAfter(store, early.next, 2 - seen.length);
  seen.push(...changes.map(({ type, plant }) => `${type} ${plant.id}`));
  expect(seen.toSorted()).toEqual([`created ${slow.id}`, `created ${other.id}`].toSorted());
});

/** Lets eight clients create plants for five seconds. Returns the average number of creates per second. */
async function rateOf(store: PlantStore, plants: NewPlant[]): Promise<number> {
  const until = performance.now() + 5_000;
  let created = 0;
  const client = async () => {
    while (performance.now() < until) {
      const plant = plants.pop();
      if (!plant) throw new Error('there are too few plants');
      await store.create(plant).then(
        () => created++,
        () => setTimeout(20),
      );
    }
  };
  await Promise.all(Array.from({ length: 8 }, client));
  return created / 5;
}

it('while a worker is down, the store creates plants on the other worker', async () => {
  const { store, workers, plantOn, plantsOn } = await startOwnCluster();
  const [onFirst, onSecond] = [await plantsOn(0, 30_000), await plantsOn(1, 30_000)];
  const rates = () => Promise.all([rateOf(store, onFirst), rateOf(store, onSecond)]);
  const [usual] = await rates();
  await workers[1]?.server.halt('SIGINT');
  const [up, down] = await rates();
  process.stdout.write(`usual ${usual}/s, while a worker is down ${up}/s\n`);
  expect(down).toBe(0);
  expect(up).toBeGreaterThan(usual / 2);
  const plant = await plantOn(1);
  await expect(store.create(plant)).rejects.toMatchObject(unavailable);
  await expect(store.list({})).rejects.toMatchObject(unavailable);
  await expect(store.changes({})).rejects.toMatchObject(unavailable);
  await workers[1]?.server.start();
  await expect.poll(() => store.create(plant).catch(() => {})).toEqual({ name: plant.name });
  await expect.poll(() => store.changes({}).catch(() => {})).toHaveProperty('next');
  expect((await store.list({})).plants).not.toHaveLength(0);
});

it('a few seconds after a worker freezes, the store creates plants on the other worker again', async () => {
  const { store, workers, plantOn, plantsOn } = await startOwnCluster();
  const [onFirst, onSecond] = [await plantsOn(0, 1_000), await plantsOn(1, 1_000)];
  const plants = onFirst.flatMap((plant, i) => [plant, onSecond[i] ?? plant]);
  await store.createMany(plants.splice(0, 100));
  const thaw = await workers[1]?.server.freeze();
  onTestFinished(() => thaw?.());
  const frozenAt = performance.now();
  const createdAt: number[] = [];
  const rejectedAt: number[] = [];
  for (const [i, plant] of plants.entries()) {
    if (performance.now() - frozenAt > 10_000) break;
    void store.create(plant, within(5_000)).then(
      () => i % 2 === 0 && createdAt.push(performance.now() - frozenAt),
      () => i % 2 === 0 && rejectedAt.push(performance.now() - frozenAt),
    );
    await setTimeout(10);
  }
  const late = (times: number[]) => times.filter((time) => time > 7_500).length;
  process.stdout.write(
    `created again after ${Math.round(createdAt.find((time) => time > 1_000) ?? 0)} ms. Of those after 7.5 s, ${late(createdAt)} created and ${late(rejectedAt)} rejected\n`,
  );
  expect(late(createdAt)).toBeGreaterThan(late(rejectedAt));
  thaw?.();
  const plant = await plantOn(1);
  await expect.poll(() => store.create(plant).catch(() => {})).toEqual({ name: plant.name });
});

it('calls get 50300 while the coordinator is down, and succeed after its restart', async () => {
  const { store, coordinator, plantOn } = await startOwnCluster();
  const [plant, other] = [await plantOn(0), await plantOn(1)];
  await store.create(plant);
  await coordinator.server.halt('SIGQUIT');
  await expect(store.create(other, within(1_000))).rejects.toMatchObject(unavailable);
  await expect(store.get(plant.id, within(1_000))).rejects.toMatchObject(unavailable);
  await coordinator.server.start();
  const startedAt = performance.now();
  await expect
    .poll(() => store.create(other, within(1_000)).catch(() => {}), { interval: 50 })
    .toEqual({ name: other.name });
  process.stdout.write(`back after ${Math.round(performance.now() - startedAt)} ms\n`);
  expect(await store.get(plant.id)).toMatchObject({ name: plant.name });
});

it('after the loss of a connection to a node, writes succeed again, even on a slow network', async () => {
  const { store, workers, plantOn } = await startOwnCluster();
  const plant = await plantOn(0);
  await store.create(await plantOn(0)); // This call connects to the worker.
  const proxy = workers[0]?.proxy;
  if (!proxy) throw new Error('there are two workers');
  proxy.fault = 'reset';
  await expect(store.create(plant)).rejects.toMatchObject(unavailable);
  // Each message waits up to 150 ms, and a write needs several messages.
  const slow = setInterval(() => {
    proxy.fault = 'none';
    proxy.fault = 'hold';
  }, 150);
  onTestFinished(() => clearInterval(slow));
  await expect.poll(() => store.create(plant).catch(() => {})).toEqual({ name: plant.name });
});

it('while a worker is frozen, the store reads from the other worker, even when the coordinator allows no further session', async () => {
  const { store, admin, workers, plantOn } = await startOwnCluster();
  const [plant, other] = [await plantOn(0), await plantOn(1)];
  await store.createMany([plant, other]);
  // These gets open a session for reads.
  await Promise.all(Array.from({ length: 30 }, () => store.get(other.id)));
  const thaw = await workers[1]?.server.freeze();
  onTestFinished(() => thaw?.());
  const [sessions] = await admin`
    select count(*)::int from pg_stat_activity where usename = 'gardener'`;
  await admin.unsafe(`
    set citus.enable_alter_role_propagation to off;
    alter role gardener connection limit ${sessions?.['count']}`);
  const overdue = Array.from({ length: 4 }, async () => {
    await store.get(other.id, within(500)).catch(() => {});
  });
  await Promise.all(overdue);
  await expect
    .poll(() => store.get(plant.id, within(1_000)).catch(() => {}))
    .toMatchObject({ name: plant.name });
});
