import { setTimeout } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { openPlantStore, PlantStoreError } from '../../src/index.ts';
import { distribute, runDoctor } from '../../src/operator.ts';
import { startOwnCluster } from '../fixtures/cluster.ts';
import { connectForTest, openAnother } from '../fixtures/open-store.ts';
import { freeId, listPages } from '../fixtures/plants.ts';

const yes = { shards: 4, confirm: async () => true };

it('the store loses no acknowledged write during repeated distributions of the plants', async () => {
  const { url, store } = await startOwnCluster({ isDistributed: false });
  const follower = await openAnother(url);
  const sql = connectForTest(url);
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  /** The name of each plant, or undefined after its delete. Plants with an unknown outcome are missing. */
  const expected = new Map<bigint, string | undefined>();
  const write = async () => {
    while (!stop.signal.aborted) {
      const plants = Array.from({ length: 20 }, () => ({ id: freeId(), name: 'new' }));
      for (const outcome of await store.createMany(plants)) {
        if ('result' in outcome) expected.set(outcome.id, 'new');
      }
      const [first, second] = [...expected.keys()].slice(-2);
      for (const [id, name, change] of [
        [first, undefined, () => store.delete(first ?? 0n)],
        [second, 'replaced', () => store.replace(second ?? 0n, { name: 'replaced' })],
      ] as const) {
        if (id === undefined) continue;
        await change().then(
          () => expected.set(id, name),
          () => expected.delete(id),
        );
      }
    }
  };
  const copy = new Map<bigint, string>();
  const follow = async () => {
    let cursor: string | undefined;
    while (!stop.signal.aborted || !copy.has(0n)) {
      try {
        if (cursor === undefined) {
          copy.clear();
          cursor = (await follower.changes({})).next;
          for (const { id, name } of (await listPages(follower, {})).flat()) copy.set(id, name);
        }
        const page = await follower.changes({ after: cursor, wait: 1 });
        for (const { type, plant } of page.changes) {
          if (type === 'deleted') copy.delete(plant.id);
          else copy.set(plant.id, plant.name);
        }
        cursor = page.next;
      } catch (error) {
        if (error instanceof PlantStoreError && error.kind === 'cursorExpired') cursor = undefined;
        await setTimeout(50);
      }
    }
  };
  const work = [write(), write(), follow()];
  for (let round = 0; round < 3; round++) {
    await setTimeout(1_500);
    expect(await distribute(url, yes)).toBe(true);
    await setTimeout(1_500);
    await sql`select undistribute_table('plant_deletions')`;
    await sql`select undistribute_table('plants')`;
  }
  stop.abort();
  await expect.poll(() => store.create({ id: 0n, name: 'last' }).catch(() => {})).toBeDefined();
  await Promise.all(work);
  const stored = new Map((await listPages(store, {})).flat().map(({ id, name }) => [id, name]));
  expect([...expected].filter(([id, name]) => stored.get(id) !== name)).toEqual([]);
  expect(copy).toEqual(stored);
});

it('the store and doctor reject the address of a worker', async () => {
  const { workerUrls } = await startOwnCluster();
  const databaseUrl = workerUrls[0] ?? '';
  const advice = 'set DATABASE_URL to the address of the coordinator';
  await expect(openPlantStore({ databaseUrl })).rejects.toThrow(advice);
  expect(await runDoctor({ databaseUrl })).toMatchObject([
    { level: 'problem', message: expect.stringContaining(advice) },
  ]);
});

it('distribute names each problem of the cluster, and distributes nothing while a problem remains', async () => {
  const { url, admin, workers, workerUrls } = await startOwnCluster({ isDistributed: false });
  const worker = connectForTest(
    Object.assign(new URL(workerUrls[0] ?? ''), { username: 'postgres' }).href,
  );
  await admin`revoke execute on function recover_prepared_transactions() from gardener`;
  await worker`alter system set synchronous_commit = off`;
  await worker`select pg_reload_conf()`;
  const grant = 'GRANT EXECUTE ON FUNCTION recover_prepared_transactions() TO gardener';
  const node = `the node 127.0.0.1:${new URL(workers[0]?.proxy.url ?? '').port} can lose plants in a crash`;
  await expect.poll(() => distribute(url, yes).catch(String)).toContain(node);
  await expect(distribute(url, yes)).rejects.toThrow(grant);
  const messages = (await runDoctor({ databaseUrl: url })).map(({ message }) => message).join('\n');
  expect(messages).toContain(grant);
  expect(messages).toContain(node);
  await admin`grant execute on function recover_prepared_transactions() to gardener`;
  await worker`alter system reset synchronous_commit`;
  await worker`select pg_reload_conf()`;
  expect(await distribute(url, { confirm: async () => false })).toBe(false);
  await expect
    .poll(() =>
      distribute(url, { confirm: async (plan) => plan === '4 shards on 2 nodes' }).catch(String),
    )
    .toBe(true);
  await expect(distribute(url, yes)).rejects.toThrow('already distributed');
  expect(
    (await runDoctor({ databaseUrl: url })).filter(({ level }) => level === 'problem'),
  ).toEqual([]);
});
