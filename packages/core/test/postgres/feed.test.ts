import { startPostgres } from '@plant-store/test-setup';
import type postgres from 'postgres';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { PlantStore } from '../../src/index.ts';
import {
  aloneForSuite,
  connectForTest,
  holdOpen,
  openAnother,
  openForTest as openOn,
} from '../fixtures/open-store.ts';
import { changesAfter, createAll, endOf, newPlants, summaryOf } from '../fixtures/plants.ts';
import { postgresServer } from '../fixtures/profiles.ts';

const expired = { kind: 'cursorExpired', code: 41000 };

const profile = aloneForSuite(postgresServer);
const openForTest = () => openOn(profile);

describe('transactions in the feed', () => {
  it('the feed loses no change of a transaction that begins first and commits last', async () => {
    const { store, sql } = await openForTest();
    const after = await endOf(store);
    const other = await sql.reserve();
    await other`begin`;
    await other`insert into plants (id, name) values (1, 'early')`;
    await store.create({ id: 2n, name: 'late' });
    expect(await store.changes({ after })).toEqual({ changes: [], next: after });
    await store.feed.readEnd();
    expect(store.feed.heldBackFor).toBeGreaterThan(0);
    const waiting = store.changes({ after, wait: 20 });
    await other`commit`;
    other.release();
    expect(summaryOf(await waiting)).toEqual(['created 1', 'created 2']);
    expect(summaryOf(await store.changes({ after }))).toEqual(['created 1', 'created 2']);
    await store.feed.readEnd();
    expect(store.feed.heldBackFor).toBe(0);
  });

  /** Begins to create plants 1 and 2. A later delete of the old plant 2 has a higher transaction number. */
  async function overtake({ store, sql }: { store: PlantStore; sql: postgres.Sql }) {
    await store.create({ id: 2n, name: 'old' });
    const after = await endOf(store);
    const release = await holdOpen(sql, "insert into plants (id, name) values (1, '')");
    const creating = store.createMany([1n, 2n].map((id) => ({ id, name: 'new' })));
    const waitingForLock = () => sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await expect.poll(waitingForLock).toHaveLength(1);
    return { after, release, creating };
  }

  const told = async (store: PlantStore, after: string) =>
    (await store.changes({ after })).changes.map(
      ({ type, plant }) => `${type} ${plant.id} ${plant.name}`,
    );

  it('the feed shows a create with a lower transaction number than the delete of the old plant', async () => {
    const { store, sql } = await openForTest();
    const { after, release, creating } = await overtake({ store, sql });
    await store.delete(2n);
    await release();
    expect(await creating).toMatchObject([{ result: 'created' }, { result: 'created' }]);
    expect(await told(store, after)).toEqual(['created 1 new', 'created 2 new']);
    const { next } = await store.changes({ after });
    await store.replace(2n, { name: 'newer' });
    expect(await told(store, after)).toEqual(['created 1 new', 'updated 2 newer']);
    await store.delete(2n);
    expect(await told(store, next)).toEqual(['deleted 2 newer']);
    await store.create({ id: 2n, name: 'last' });
    await store.delete(2n);
    expect(await told(store, next)).toEqual(['deleted 2 newer', 'deleted 2 last']);
    expect(await told(store, after)).toEqual([
      'created 1 new',
      'deleted 2 newer',
      'deleted 2 last',
    ]);
  });

  it('the feed leaves out the delete of the old plant, even while a running transaction hides a later delete', async () => {
    const { store, sql } = await openForTest();
    const { after, release, creating } = await overtake({ store, sql });
    const beforeDelete = await holdOpen(sql, 'select pg_current_xact_id()');
    await store.delete(2n);
    await release();
    await creating;
    const created = await store.changes({ after });
    expect(summaryOf(created)).toEqual(['created 1', 'created 2']);
    const beforeLaterDelete = await holdOpen(sql, 'select pg_current_xact_id()');
    await store.delete(2n);
    await beforeDelete();
    expect(await store.changes({ after: created.next })).toMatchObject({ changes: [] });
    await beforeLaterDelete();
    expect(await told(store, created.next)).toEqual(['deleted 2 new']);
  });

  it('a transaction that is rolled back changes no cursor', async () => {
    const { store, sql } = await openForTest();
    await store.create({ id: 1n, name: 'Monstera' });
    const after = await endOf(store);
    await (await holdOpen(sql, "insert into plants (id, name) values (2, 'Pothos')"))();
    expect(await store.changes({})).toEqual({ changes: [], next: after });
    expect(await store.changes({ after })).toEqual({ changes: [], next: after });
  });
});

describe('a follower', () => {
  it('gets the changes of all instances, and of other clients of the database', async () => {
    const { store, sql, options } = await openForTest();
    const other = await openAnother(options);
    const pages = store.follow();
    await pages.next();
    await other.create({ id: 1n, name: 'x' });
    await sql`insert into plants (id, name) values (2, 'from elsewhere')`;
    await store.delete(1n);
    const seen: string[] = [];
    while (!seen.includes('deleted 1')) seen.push(...summaryOf((await pages.next()).value));
    expect(seen).toContain('created 2');
  });

  it('waits while nothing changes, and continues after lost connections', async () => {
    const { store, sql } = await openForTest();
    const after = await endOf(store);
    const next = store.follow({ after }).next();
    for (let i = 0; i < 2; i++) {
      await sql`
        select pg_terminate_backend(pid, 5000) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`;
    }
    await expect.poll(() => store.create({ id: 1n, name: 'x' }).catch(() => {})).toBeDefined();
    expect(summaryOf((await next).value)).toEqual(['created 1']);
  });

  it('gets an error when its cursor expires, like a caller that waits', async () => {
    const { store, sql } = await openForTest();
    const after = await endOf(store);
    const waits = [store.follow({ after }).next(), store.changes({ after, wait: 20 })];
    const ended = waits.map((wait) => expect(wait).rejects.toMatchObject(expired));
    await sql`truncate plants`;
    await Promise.all(ended);
    const pages = store.follow();
    expect((await pages.next()).value.changes).toEqual([]);
    await store.create({ id: 1n, name: 'x' });
    expect(summaryOf((await pages.next()).value)).toEqual(['created 1']);
  });

  it('gets each change once, even when there are 100 followers', async () => {
    const { store } = await openForTest();
    const after = await endOf(store);
    const followers = Array.from({ length: 100 }, () => store.follow({ after }));
    const plants = newPlants(500);
    await createAll(store, plants);
    const expected = plants.map(({ id }) => `created ${id}`);
    for (const pages of followers) {
      const seen: string[] = [];
      while (seen.length < plants.length) seen.push(...summaryOf((await pages.next()).value));
      expect(seen).toEqual(expected);
    }
  });

  it('makes the process keep only the latest changes in memory', async () => {
    const { store } = await openForTest();
    const after = await endOf(store);
    await store.changes({ after, wait: 1 }); // After this call, the process keeps new changes.
    const pages = store.follow({ after });
    const next = pages.next();
    await store.create({ id: 1n, name: 'x' });
    await store.delete(1n);
    const seen = summaryOf((await next).value);
    while (!seen.includes('deleted 1')) seen.push(...summaryOf((await pages.next()).value));
    const later = pages.next(); // While a follower waits, the process keeps changes.
    // The database forgets all deletions, but the process still has the changes.
    await store.feed.forgetDeletions(0);
    expect((await store.changes({ after })).changes).not.toEqual([]);
    const large = newPlants(5, { name: 'x'.repeat(2 ** 20) });
    await createAll(store, large);
    const last = `created ${large.at(-1)?.id}`;
    seen.push(...summaryOf((await later).value));
    while (!seen.includes(last)) seen.push(...summaryOf((await pages.next()).value));
    pages.next().catch(() => {});
    await expect(store.changes({ after })).rejects.toMatchObject(expired);
  });
});

describe('a cursor expires', () => {
  it.each(['truncate plants', 'truncate plant_deletions'])('after %s', async (statement) => {
    const { store, sql } = await openForTest();
    await store.create({ id: 1n, name: 'x' });
    const after = await endOf(store);
    await sql.unsafe(statement);
    await expect(store.changes({ after })).rejects.toMatchObject(expired);
    await expect(store.changes({ after, wait: 20 })).rejects.toMatchObject(expired);
  });

  it('when the feed forgets old deletions that follow the cursor', async () => {
    const { store, sql } = await openForTest();
    const plants = newPlants(5);
    await createAll(store, plants);
    const after = await endOf(store);
    const ids = plants.map(({ id }) => id);
    for (const id of ids.slice(0, 3)) await store.delete(id);
    await changesAfter(store, after, 3);
    const { count } = await sql`update plant_deletions set deleted_at = now() - interval '8 days'`;
    await store.delete(ids[3] ?? 0n);
    await changesAfter(store, after, 4);
    expect(await store.feed.forgetDeletions(7)).toBe(count);
    await expect(store.changes({ after })).rejects.toMatchObject(expired);
    const next = await endOf(store);
    await store.delete(ids[4] ?? 0n);
    expect(summaryOf(await changesAfter(store, next, 1))).toEqual([`deleted ${ids[4]}`]);
  });
});

describe('after a crash', () => {
  it('the feed loses no change when Postgres assigns a transaction number again', async () => {
    const server = await startPostgres({ fsync: 'off' });
    onTestFinished(() => server.stop());
    const store = await openAnother(server.url, { requireConnection: true });
    const before = await endOf(store);
    const sql = connectForTest(server.url);
    // Postgres does not log these transaction numbers, and uses the numbers again after a crash.
    for (let i = 0; i < 5; i++) await sql`select pg_current_xact_id()`;
    const { next: after } = await store.changes({ after: before });
    await server.halt('SIGQUIT');
    await server.start();
    await expect
      .poll(() => store.create({ id: 1n, name: 'x' }).catch(() => {}))
      .toEqual({ name: 'x' });
    await expect
      .poll(() => changesAfter(store, after, 1).then(summaryOf, () => []))
      .toEqual(['created 1']);
  });

  it('the store still has each plant that a list or a page of changes has shown', async () => {
    const server = await startPostgres({ fsync: 'off' });
    onTestFinished(() => server.stop());
    const store = await openAnother(server.url, { requireConnection: true });
    const after = await endOf(store);
    const hasty = connectForTest(`${server.url}?synchronous_commit=off`);
    await hasty`insert into plants (id, name) values (701, 'x')`;
    expect((await store.list({ limit: 10 })).plants).toMatchObject([{ id: 701n }]);
    const { next } = await changesAfter(store, after, 1);
    await server.halt('SIGQUIT');
    await server.start();
    await expect.poll(() => store.get(701n).catch(() => {})).toMatchObject({ id: 701n });
    await expect.poll(() => store.changes({ after: next }).catch(() => {})).toBeDefined();
  });
});

describe('after the restore of a dump on a server with lower transaction numbers', () => {
  /** Copies the rows of all tables into the tables of another database, as pg_dump and pg_restore do. */
  async function restore(from: postgres.Sql, to: postgres.Sql): Promise<void> {
    const tables = await from`select tablename as name from pg_tables where schemaname = 'public'`;
    for (const { name } of tables) {
      await to.unsafe(`truncate "${name}"`);
      const rows = await from.unsafe(`select row_to_json(t)::text as row from "${name}" as t`);
      for (const { row } of rows) {
        const insert = `insert into "${name}" select * from json_populate_record(null::"${name}", $1::text::json)`;
        await to.unsafe(insert, [row]);
      }
    }
  }

  it('old cursors expire, and the feed loses no later change', async () => {
    const { store, sql } = await openForTest();
    // These transactions give the dump higher transaction numbers than the new server has.
    await sql.unsafe(`
      do $$ begin for i in 1..3000 loop perform pg_current_xact_id(); commit; end loop; end $$`);
    await createAll(
      store,
      [1n, 2n, 3n].map((id) => ({ id, name: 'dumped' })),
    );
    const before = await endOf(store);
    await store.delete(3n);
    const young = await startPostgres({ fsync: 'off' });
    onTestFinished(() => young.stop());
    const tables = await openAnother(young.url, { requireConnection: true });
    await tables.close();
    await restore(sql, connectForTest(young.url));

    const restored = await openAnother(young.url, { requireConnection: true });
    await expect
      .poll(() => restored.changes({ after: before }).catch((error) => error))
      .toMatchObject(expired);
    expect((await restored.list({ limit: 10 })).plants).toMatchObject([{ id: 1n }, { id: 2n }]);
    const after = await endOf(restored);
    await restored.create({ id: 4n, name: 'new' });
    await restored.delete(1n);
    await restored.create({ id: 3n, name: 'new' });
    expect(summaryOf(await changesAfter(restored, after, 3))).toEqual([
      'created 4',
      'deleted 1',
      'created 3',
    ]);
  });
});
