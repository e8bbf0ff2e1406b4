import type postgres from 'postgres';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { switchFeed } from '../../../core/src/changes/switch-feed.ts';
import { inspectDatabase } from '../../../core/src/inspection/inspect-database.ts';
import { openPlantReader } from '../../../core/src/open-plant-reader.ts';
import type { PlantStore } from '../../../core/src/plant-store.ts';
import { createOldTables } from '../../../core/test/fixtures/old-tables.ts';
import { citus } from '../../src/index.ts';
import { inspectCluster } from '../../src/operator.ts';
import {
  connect,
  createDistributedDatabase,
  createEmptyDatabase,
  distribute,
  moveShard,
  openStore,
  startOwnCluster,
} from '../fixtures/distributed-database.ts';

/** Applies the changes after the cursor of a copy until the copy has exactly the plants of the database. */
async function expectCopy(store: PlantStore, sql: postgres.Sql, copy: Copy): Promise<void> {
  await vi.waitFor(
    async () => {
      for (let isEnd = false; !isEnd; ) {
        const { changes, next } = await store.changes({ after: copy.cursor, limit: 7 });
        for (const { type, plant } of changes) {
          if (type === 'created') copy.plants.set(String(plant.id), plant.name);
          else copy.plants.delete(String(plant.id));
        }
        copy.cursor = next;
        isEnd = changes.length === 0;
      }
      const stored = await sql<{ id: string; name: string }[]>`select id::text, name from plants`;
      expect(copy.plants).toEqual(new Map(stored.map(({ id, name }) => [id, name])));
    },
    { timeout: 20_000 },
  );
}

interface Copy {
  cursor: string;
  readonly plants: Map<string, string>;
}

/** Makes a copy of all plants, with the cursor of the end of the feed. */
async function copyOf(store: PlantStore): Promise<Copy> {
  const { next: cursor } = await vi.waitFor(() => store.changes({}), { timeout: 20_000 });
  const plants = new Map<string, string>();
  for await (const page of store.read({}))
    for (const { id, name } of page) plants.set(String(id), name);
  return { cursor, plants };
}

const open = (databaseUrl: string) => openStore(databaseUrl, { requireConnection: true });

const expired = { code: 41000 };
const ids = Array.from({ length: 40 }, (_, i) => BigInt(i));

describe('the feed on Citus', () => {
  it.each(['coordinator', 'worker'])(
    'reads the changes of all nodes through the %s, even changes that other programs make',
    async (node) => {
      const { url, workerUrls } = await createDistributedDatabase();
      const databaseUrl = node === 'worker' ? (workerUrls[0] ?? '') : url;
      const store = await open(databaseUrl);
      const sql = connect(url);
      const copy = await copyOf(store);
      await store.load(ids.map((id) => ({ id, name: 'Monstera' })));
      await store.createMany(ids.map((id) => ({ id: id + 40n, name: 'Hoya' })));
      expect(await store.delete(0n)).toBe(true);
      expect(await store.deleteMany([1n, 2n, 41n])).toBe(3);
      await expectCopy(store, sql, copy);
      await sql.begin(async (transaction) => {
        await transaction`set local synchronous_commit = off`;
        await transaction`delete from plants where id between 10 and 20`;
        await transaction.savepoint(
          (inner) => inner`insert into plants (id, name) values (10, 'Pilea'), (11, 'Pilea')`,
        );
        await transaction`delete from plants where id = 11`;
      });
      await expectCopy(store, sql, copy);
      expect((await inspectDatabase({ databaseUrl }))?.tableFaults).toEqual([]);
      expect(await switchFeed({ databaseUrl }, 'off')).toBe(true);
      await expect(store.changes({ after: copy.cursor })).rejects.toMatchObject({ code: 50100 });
      expect(await switchFeed({ databaseUrl }, 'on')).toBe(true);
      await vi.waitFor(() =>
        expect(store.changes({ after: copy.cursor })).rejects.toMatchObject(expired),
      );
      await expectCopy(store, sql, await copyOf(store));
    },
  );

  it('sends new changes to waiting followers, and rejects a cursor that is older than a forgotten deletion', async () => {
    const { url } = await createDistributedDatabase();
    const store = await open(url);
    await vi.waitFor(() => store.changes({}), { timeout: 20_000 });
    const reader = await openPlantReader({ databaseUrl: url, cluster: citus }, { onPrimary: true });
    onTestFinished(() => reader.close());
    const { next: after } = await reader.changes({});
    const pages = reader.follow({ after });
    const page = pages.next();
    await store.create({ id: 1n, name: 'Hoya' });
    expect((await page).value).toMatchObject({ changes: [{ plant: { id: 1n } }] });
    await store.delete(1n);
    const { changes, next } = await store.changes({ after, wait: 20 });
    expect(changes).toMatchObject([{ type: 'deleted', plant: { id: 1n } }]);
    expect(await store.forgetDeletions(0)).toBe(1);
    await expect(store.changes({ after })).rejects.toMatchObject(expired);
    expect(await store.changes({ after: next })).toMatchObject({ changes: [] });
  });

  it('rejects old cursors after a shard has moved, and loses no change after a new list', async () => {
    const { url, adminUrl } = await createDistributedDatabase();
    const store = await open(url);
    const [sql, admin] = [connect(url), connect(adminUrl)];
    // Each node counts its own transactions. In each round, another shard moves to the other node.
    for (let round = 0; round < 3; round++) {
      const copy = await copyOf(store);
      await store.createMany(ids.map((id) => ({ id, name: `round ${round}` })));
      for (const id of ids) expect(await store.delete(id)).toBe(true);
      await store.createMany(ids.slice(5).map((id) => ({ id, name: `again ${round}` })));
      await expectCopy(store, sql, copy);
      await moveShard(admin, round);
      await vi.waitFor(() =>
        expect(store.changes({ after: copy.cursor })).rejects.toMatchObject(expired),
      );
      const moved = await copyOf(store);
      for (const id of ids) await store.delete(id);
      await expectCopy(store, sql, moved);
    }
  });

  it('reads the changes of the other nodes while one node does not respond', async () => {
    const { url, workers } = await startOwnCluster();
    const store = await open(url);
    const copy = await copyOf(store);
    const unfreeze = await workers[0]?.server.freeze();
    const outcomes = await Promise.allSettled(
      ids.map((id) => store.create({ id, name: 'Monstera' })),
    );
    const created = ids.filter((_, i) => outcomes[i]?.status === 'fulfilled');
    expect(created.length).toBeGreaterThan(0);
    const seen = new Set<bigint>();
    await vi.waitFor(
      async () => {
        const { changes, next } = await store.changes({ after: copy.cursor });
        copy.cursor = next;
        for (const { plant } of changes) {
          seen.add(plant.id);
          copy.plants.set(String(plant.id), plant.name);
        }
        expect(created.filter((id) => !seen.has(id))).toEqual([]);
      },
      { timeout: 20_000 },
    );
    unfreeze?.();
    await expectCopy(store, connect(url), copy);
  });

  it('reads the changes of a node whose responses always come too late for a page', async () => {
    const { url, workers } = await startOwnCluster({ workers: 2 });
    const store = await open(url);
    const copy = await copyOf(store);
    for (const id of ids.slice(20)) await store.create({ id, name: 'Monstera' });
    const proxy = workers[0]?.proxy;
    if (!proxy) throw new Error('the worker has no proxy');
    proxy.delay = 400;
    await expectCopy(store, connect(url), copy);
  });
});

it('begins a new feed when the plants are distributed on Citus', async () => {
  const { url: databaseUrl } = await createEmptyDatabase();
  const store = await open(databaseUrl);
  const { next: after } = await store.changes({});
  await store.create({ id: 1n, name: 'Hoya' });
  await vi.waitFor(async () => {
    const { changes } = await store.changes({ after });
    expect(changes).toMatchObject([{ type: 'created', plant: { id: 1n } }]);
  });
  await distribute(databaseUrl);
  await vi.waitFor(() => expect(store.changes({ after })).rejects.toMatchObject(expired));
  const copy = await copyOf(store);
  await store.delete(1n);
  await expectCopy(store, connect(databaseUrl), copy);
});

it('records all changes on Citus even when the feed was off while the plants were distributed', async () => {
  const { url: databaseUrl } = await createEmptyDatabase();
  const store = await open(databaseUrl);
  const sql = connect(databaseUrl);
  const feeds = async () => (await inspectCluster(databaseUrl))?.nodes.map(({ feed }) => feed);
  await switchFeed({ databaseUrl }, 'off');
  await distribute(databaseUrl);
  const off = { isOn: false, isRestored: false, hasIndex: false };
  expect(await feeds()).toMatchObject([off, off]);
  expect(await switchFeed({ databaseUrl }, 'on')).toBe(true);
  await vi.waitFor(() => store.changes({}), { timeout: 20_000 });
  const on = { isOn: true, isRestored: false, hasIndex: true };
  expect(await feeds()).toMatchObject([on, on]);
  const copy = await copyOf(store);
  await store.load(ids.map((id) => ({ id, name: 'Monstera' })));
  await sql`insert into plants (id, name) select id, 'Hoya' from generate_series(41, 60) as id`;
  await store.deleteMany([1n, 41n]);
  await expectCopy(store, sql, copy);
  expect(await switchFeed({ databaseUrl }, 'on')).toBe(false);
});

it('deletes plants, and holds no change back, after the database has left Citus', async () => {
  const { url: databaseUrl, adminUrl } = await createDistributedDatabase();
  const admin = connect(adminUrl);
  await admin`insert into plants (id, name) values (1, 'Hoya'), (2, 'Hoya')`;
  await admin`set citus.enable_unsafe_triggers = on`;
  for (const table of ['plants', 'plant_deletions', 'plant_feed', 'access_tokens'])
    await admin`select undistribute_table(${table})`;
  await admin`drop extension citus cascade`;
  const store = await open(databaseUrl);
  const { next: after } = await store.changes({});
  expect(await store.delete(1n)).toBe(true);
  await vi.waitFor(async () => {
    const { changes } = await store.changes({ after });
    expect(changes).toMatchObject([{ type: 'deleted', plant: { id: 1n } }]);
  });
  await store.watchFeed();
  expect(store.feed().heldBackFor).toBe(0);
});

it('adds the column of the feed when the plants are already distributed on Citus', async () => {
  const { url: databaseUrl } = await createEmptyDatabase();
  await createOldTables(databaseUrl, 3);
  const sql = connect(databaseUrl);
  await sql`select create_distributed_table('plants', 'id', shard_count => 4)`;
  await sql`insert into plants (id, name) select id, 'old' from generate_series(1, 100) as id`;
  const store = await open(databaseUrl);
  expect(await sql`select from plants where changed_in is not null`).toEqual([]);
  await store.create({ id: 101n, name: 'new' });
  await store.createMany([102n, 103n, 104n].map((id) => ({ id, name: 'new' })));
  await distribute(databaseUrl);
  await store.create({ id: 105n, name: 'new' });
  expect(await store.delete(1n)).toBe(true);
  expect(await store.countUpTo(1_000)).toBe(104);
});
