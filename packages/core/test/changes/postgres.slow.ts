import { hasPgBouncer, startPgBouncer, startPostgres } from '@plant-store/test-setup';
import postgres from 'postgres';
import { expect, it, onTestFinished, vi } from 'vitest';
import { switchFeed } from '../../src/changes/switch-feed.ts';
import { openPlantReader } from '../../src/open-plant-reader.ts';
import { openPlantStore, type PlantStore } from '../../src/plant-store.ts';
import { idsOf, summaryOf } from '../fixtures/changes.ts';
import { closeAtEnd, createStore, createUser } from '../fixtures/databases.ts';

const name = 'Monstera';
const replaced = { code: 41000, message: expect.stringContaining('was replaced') };

async function open(databaseUrl: string) {
  const store = closeAtEnd(await openPlantStore({ databaseUrl }, { requireConnection: true }));
  const sql = postgres(databaseUrl, { onnotice: () => {} });
  onTestFinished(() => sql.end());
  return { store, sql };
}

it('loses no change when a transaction begins first and commits last', async () => {
  const { store, sql } = await createStore();
  const { next: after } = await store.changes({});
  const other = await sql.reserve();
  await other`begin`;
  await other`insert into plants (id, name) values (1, 'early')`;
  await store.create({ id: 2n, name });
  expect(await store.changes({ after })).toEqual({ changes: [], next: after });
  await store.watchFeed();
  const { heldBackFor } = store.feed();
  expect(heldBackFor).toBeGreaterThan(0); // The store measures `heldBackFor` even when no caller waits.
  const waiting = store.changes({ after, wait: 20 });
  await vi.waitFor(() => expect(store.feed().waiting).toBe(1));
  await store.watchFeed();
  expect(store.feed().heldBackFor).toBeGreaterThan(heldBackFor);
  await other`commit`;
  other.release();
  expect(idsOf(await waiting)).toEqual([1n, 2n]);
  expect(idsOf(await store.changes({ after }))).toEqual([1n, 2n]);
  await store.watchFeed();
  expect(store.feed().heldBackFor).toBe(0);
});

it.each([
  ['a table was truncated', 'truncate plants'],
  ['the deletions were truncated', 'truncate plant_deletions'],
  ['the operator gave the feed a new epoch', 'update plant_feed set epoch = gen_random_uuid()'],
])('throws error 41000 after %s', async (_, statement) => {
  const { store, sql } = await createStore();
  await store.create({ id: 1n, name });
  const { next: after } = await store.changes({});
  await sql.unsafe(statement);
  await expect(store.changes({ after })).rejects.toMatchObject(replaced);
  await expect(store.changes({ after, wait: 20 })).rejects.toMatchObject(replaced);
});

it('throws error 41000 after the database was dropped and created again', async () => {
  const { store, sql } = await createStore();
  await store.create({ id: 1n, name });
  const { next: after } = await store.changes({});
  await sql`drop schema drizzle cascade`;
  await sql`drop table plants, plant_deletions, plant_feed, access_tokens, webhooks`;
  await vi.waitFor(() => store.create({ id: 1n, name }));
  await expect(store.changes({ after })).rejects.toMatchObject(replaced);
});

/** Makes the tables look like a restored dump of another server. */
async function becomeDump(sql: postgres.Sql): Promise<void> {
  await sql`insert into plants (id, name, changed_in) values (1, 'dumped', '1000000000')`;
  await sql`
    insert into plant_deletions (id, name, created_at, changed_in)
    values (2, 'dumped', now(), '2000000000')`;
  await sql`update plant_feed set system_identifier = 1, forgotten_up_to = '1500000000'`;
}

it.each([
  ['a running instance', (_: string, store: PlantStore) => store.watchFeed().catch(() => {})],
  ['the next start', (databaseUrl: string) => open(databaseUrl)],
  ['`feed on`', (databaseUrl: string) => switchFeed({ databaseUrl }, 'on')],
])('deletes transaction numbers of another server when %s renews the feed', async (_, renew) => {
  const { databaseUrl, store, sql } = await createStore();
  const { next: before } = await store.changes({});
  await becomeDump(sql);
  await renew(databaseUrl, store);
  await vi.waitFor(() => expect(store.changes({ after: before })).rejects.toMatchObject(replaced));
  const { next: after } = await store.changes({});
  await store.create({ id: 3n, name });
  await store.delete(1n);
  expect(summaryOf(await store.changes({ after }))).toEqual(['created 3', 'deleted 1']);
  expect(await sql`select id from plants where changed_in > '100000000'`).toEqual([]);
});

it('lets followers wait after a restore until the feed has a new epoch', async () => {
  const { store, sql } = await createStore();
  const { next: after } = await store.changes({});
  const errors: unknown[] = [];
  const follower = store.follow({ after, onError: (error) => errors.push(error) }).next();
  const ended = expect(follower).rejects.toMatchObject(replaced);
  await vi.waitFor(() => expect(store.feed().waiting).toBe(1));
  await becomeDump(sql);
  await ended;
  for (const error of errors) expect(error).toMatchObject({ code: 50300 });
});

it('gives the feed a new epoch even when another instance was killed in the middle of the change of the epoch', async () => {
  const { databaseUrl, store, sql } = await createStore();
  await sql.unsafe('drop index plants_changed_in; update plant_feed set system_identifier = 0');
  const { store: other } = await open(databaseUrl);
  const { next: after } = await other.changes({});
  await store.create({ id: 1n, name });
  expect(idsOf(await store.changes({ after }))).toEqual([1n]);
});

it('gives the feed only one new epoch when several instances notice a restored dump at the same moment', async () => {
  const { databaseUrl, store, sql } = await createStore();
  const stores = [store];
  for (let i = 0; i < 3; i++) stores.push((await open(databaseUrl)).store);
  await becomeDump(sql);
  for (const each of stores) void each.watchFeed().catch(() => {});
  const { next: after } = await vi.waitFor(() => store.changes({}));
  for (const each of stores)
    expect(await each.changes({ after })).toEqual({ changes: [], next: after });
  await expect.poll(() => sql`select count(*)::int from plant_feed`).toEqual([{ count: 1 }]);
});

it('gives different epochs to two promoted standbys with the same timeline number', async () => {
  const primary = await startPostgres({ fsync: 'off' });
  onTestFinished(() => primary.stop());
  const { store } = await open(primary.url);
  await store.create({ id: 1n, name });
  const { next: before } = await store.changes({});
  const promoted: PlantStore[] = [];
  for (let i = 0; i < 2; i++) {
    const standby = await primary.startStandby();
    onTestFinished(() => standby.stop());
    const sql = postgres(standby.url);
    onTestFinished(() => sql.end());
    await sql`select pg_promote()`;
    promoted.push((await open(standby.url)).store);
  }
  const cursors = await Promise.all(promoted.map((each) => each.changes({})));
  for (const each of promoted) {
    await expect(each.changes({ after: before })).rejects.toMatchObject(replaced);
    const [good, ...others] = cursors.toSorted((one) =>
      one === cursors[promoted.indexOf(each)] ? -1 : 1,
    );
    expect(await each.changes({ after: good?.next })).toMatchObject({ changes: [] });
    await expect(each.changes({ after: others[0]?.next })).rejects.toMatchObject(replaced);
  }
});

it('loses no change when Postgres uses a transaction number again after a crash', async () => {
  const server = await startPostgres({ fsync: 'off' });
  onTestFinished(() => server.stop());
  const { store, sql } = await open(server.url);
  const { next: before } = await store.changes({});
  // Postgres does not log these transaction numbers, and uses the numbers again after a crash.
  for (let i = 0; i < 5; i++) {
    await sql`select pg_current_xact_id()`;
  }
  const { next: after } = await store.changes({ after: before });
  await server.halt('SIGQUIT');
  await server.start();
  await vi.waitFor(() => store.create({ id: 1n, name }));
  expect(idsOf(await store.changes({ after }))).toEqual([1n]);
});

it('throws error 50100 on a read replica, and error 41000 after the promotion of the replica', async () => {
  const primary = await startPostgres({ fsync: 'off' });
  onTestFinished(() => primary.stop());
  const { store } = await open(primary.url);
  await store.create({ id: 1n, name });
  const { next: after } = await store.changes({});
  const standby = await primary.startStandby();
  onTestFinished(() => standby.stop());
  const reader = closeAtEnd(await openPlantReader({ databaseUrl: standby.url }));
  await vi.waitFor(async () =>
    expect(reader.changes({ after })).rejects.toMatchObject({
      code: 50100,
      message: expect.stringContaining('read replica'),
    }),
  );
  const sql = postgres(standby.url);
  onTestFinished(() => sql.end());
  await expect(switchFeed({ databaseUrl: standby.url }, 'off')).rejects.toMatchObject({
    databaseCode: '25006',
  });
  await sql`select pg_promote()`;
  // A reader cannot write a new epoch, and throws error 50300 until another instance writes the epoch.
  await expect(reader.changes({ after })).rejects.toMatchObject({ code: 50300 });
  const { store: promoted } = await open(standby.url);
  await expect(reader.changes({ after })).rejects.toMatchObject(replaced);
  const { next } = await reader.changes({});
  await promoted.create({ id: 2n, name });
  expect(idsOf(await reader.changes({ after: next }))).toEqual([2n]);
});

it.runIf(hasPgBouncer)('reads the feed through PgBouncer in transaction mode', async () => {
  const { databaseUrl, store } = await createStore();
  const pooler = await startPgBouncer(databaseUrl);
  onTestFinished(() => pooler.stop());
  const { store: pooled } = await open(pooler.url);
  const { next: after } = await store.changes({});
  const waiting = pooled.changes({ after, wait: 20 });
  await store.create({ id: 1n, name });
  expect(idsOf(await waiting)).toEqual([1n]);
  await pooled.delete(1n);
  expect(summaryOf(await pooled.changes({ after }))).toEqual(['deleted 1']);
  expect(await pooled.forgetDeletions(0)).toBe(1);
});

it('reads the feed with only the documented privileges', async () => {
  const { databaseUrl, sql } = await createStore();
  const { user, url } = await createUser(sql, databaseUrl, 'select on plants');
  const reader = closeAtEnd(await openPlantReader({ databaseUrl: url }));
  await expect(reader.changes({})).rejects.toMatchObject({ databaseCode: '42501' });
  await sql.unsafe(`grant select on plant_deletions, plant_feed to ${user}`);
  expect((await reader.changes({})).changes).toEqual([]);
});
