import { expect, it, vi } from 'vitest';
import type { PlantStore } from '../../../core/src/plant-store.ts';
import { startReceiver } from '../../../core/test/fixtures/receiver.ts';
import {
  connect,
  createDistributedDatabase,
  createEmptyDatabase,
  distribute,
  moveShard,
  openStore,
  splitShard,
  startOwnCluster,
} from '../fixtures/distributed-database.ts';

const ids = Array.from({ length: 40 }, (_, i) => BigInt(i));

const webhooks = { allow: ['127.0.0.1'], retryDelays: Array.from({ length: 100 }, () => 0.1) };
const open = (databaseUrl: string) => openStore(databaseUrl, { requireConnection: true, webhooks });

/** Creates a webhook. Repeats a failed create, because a new store may not know the shards yet. */
async function follow(store: PlantStore, ...respond: Parameters<typeof startReceiver>) {
  const receiver = await startReceiver(...respond);
  const create = () => store.webhooks.create(receiver.url, { name: 'partner' });
  receiver.secret = (await vi.waitFor(create, { timeout: 20_000 })).secret;
  return receiver;
}

const inTime = { timeout: 30_000 };

it('shares one row of a webhook among the instances on all nodes of Citus', async () => {
  const { url, workerUrls } = await createDistributedDatabase();
  const stores = await Promise.all([url, ...workerUrls].map(open));
  const [onCoordinator, onWorker] = stores;
  if (!onCoordinator || !onWorker) throw new Error('the cluster has a coordinator and workers');
  const receiver = await follow(onWorker);
  for (const { webhooks } of stores) webhooks.send();
  await onCoordinator.createMany(ids.map((id) => ({ id, name: 'Hoya' })));
  const all = ids.map((id) => `created ${id}`).sort();
  await vi.waitFor(() => expect(receiver.changes().toSorted()).toEqual(all), inTime);
  // No two instances have sent the same change.
  expect(receiver.received.flatMap(({ changes }) => changes)).toHaveLength(ids.length);
  expect(await onCoordinator.webhooks.list()).toMatchObject([{ name: 'partner' }]);
  expect(await onWorker.webhooks.pause('partner')).toBe(true);
  expect(await onCoordinator.webhooks.get('partner')).toMatchObject({ state: 'paused' });
  expect(await onWorker.webhooks.state()).toMatchObject({ failing: 0 });
});

it('sends the changes of other nodes while a node of Citus does not respond, and repeats a message unchanged', async () => {
  const { url, workers } = await startOwnCluster();
  const store = await open(url);
  let status = 500;
  const receiver = await follow(store, (response) => response.writeHead(status).end());
  store.webhooks.send();
  await store.createMany(ids.map((id) => ({ id, name: 'Hoya' })));
  await vi.waitFor(() => expect(receiver.received.length).toBeGreaterThan(0), inTime);
  const unfreeze = await workers[0]?.server.freeze();
  const later = ids.map((id) => id + 40n);
  const outcomes = await Promise.allSettled(later.map((id) => store.create({ id, name: 'Hoya' })));
  const created = later.filter((_, i) => outcomes[i]?.status === 'fulfilled');
  expect(created.length).toBeGreaterThan(0);
  status = 200;
  await vi.waitFor(
    () =>
      expect(receiver.changes()).toEqual(
        expect.arrayContaining(created.map((id) => `created ${id}`)),
      ),
    inTime,
  );
  const [first] = receiver.received;
  const repeated = receiver.received.filter(({ id }) => id === first?.id);
  expect(repeated.length).toBeGreaterThan(1);
  for (const each of repeated) expect(each).toEqual(first);
  unfreeze?.();
  const sql = connect(url);
  await vi.waitFor(async () => {
    const stored = await sql`select 'created ' || id as change from plants`;
    const changes = stored.map(({ change }) => change);
    expect(receiver.changes().toSorted()).toEqual(changes.toSorted());
  }, inTime);
});

it('sends plants.reset after Citus has distributed, moved or split the plants, and then sends all new changes', async () => {
  const { url, adminUrl } = await createEmptyDatabase();
  const admin = connect(adminUrl);
  const store = await open(url);
  const receiver = await follow(store);
  store.webhooks.send();
  const resets = () => receiver.received.filter(({ type }) => type === 'plants.reset').length;
  let id = 0n;
  const expectChanges = async () => {
    id += 1n;
    const before = resets();
    await store.create({ id, name: 'Hoya' });
    await store.delete(id);
    await vi.waitFor(() => expect(receiver.changes()).toContain(`deleted ${id}`), inTime);
    expect(resets()).toBe(before);
  };
  const expectReset = async (count: number) => {
    await vi.waitFor(() => expect(resets()).toBe(count), inTime);
    for (let i = 0; i < 5; i++) await expectChanges();
  };
  await expectChanges();
  await distribute(url);
  await expectReset(1);
  await moveShard(admin);
  await expectReset(2);
  await splitShard(admin);
  await distribute(url);
  await expectReset(3);
});

it('sends all changes since a given time again, from all nodes of Citus', async () => {
  const { workerUrls } = await createDistributedDatabase();
  const store = await open(workerUrls[0] ?? '');
  const receiver = await follow(store);
  await store.createMany(ids.map((id) => ({ id, name: 'Hoya' })));
  const { createdAt } = (await store.get(0n)) ?? {};
  if (!createdAt) throw new Error('the plant is missing');
  await vi.waitFor(async () => {
    await store.watchFeed();
    expect(store.feed().heldBackFor).toBe(0);
  });
  const since = (time: number) => store.webhooks.replay('partner', new Date(time));
  await since(Date.now() + 60_000);
  store.webhooks.send();
  await store.delete(0n);
  await vi.waitFor(() => expect(receiver.changes()).toEqual(['deleted 0']), inTime);
  await since(createdAt.getTime() - 60_000);
  const all = ['deleted 0', 'deleted 0', ...ids.slice(1).map((id) => `created ${id}`)].sort();
  await vi.waitFor(() => expect(receiver.changes().toSorted()).toEqual(all), inTime);
});
