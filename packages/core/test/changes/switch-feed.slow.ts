import { createDatabase } from '@plant-store/test-setup';
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { switchFeed } from '../../src/changes/switch-feed.ts';
import type { DatabaseOptions } from '../../src/index.ts';
import { openPlantStore, type PlantStore } from '../../src/plant-store.ts';
import { summaryOf } from '../fixtures/changes.ts';
import { createStore, embedded, server } from '../fixtures/databases.ts';

describe.each([server, embedded])('on $name', ({ provide }) => {
  /** Closes the store after use, because only one store can open an embedded database. */
  async function using<T>(options: DatabaseOptions, use: (store: PlantStore) => Promise<T>) {
    const store = await openPlantStore(options, { requireConnection: true });
    return use(store).finally(() => store.close());
  }

  it('switches the feed off and on, and returns false when nothing changes', async () => {
    const { options, remove } = await provide();
    onTestFinished(remove);
    const before = await using(options, async (store) => {
      await store.create({ id: 1n, name: 'Hoya' });
      return (await store.changes({})).next;
    });
    expect(await switchFeed(options, 'on')).toBe(false);
    await using(options, async (store) => {
      expect((await store.changes({ after: before })).changes).toEqual([]);
    });
    expect(await switchFeed(options, 'off')).toBe(true);
    expect(await switchFeed(options, 'off')).toBe(false);
    await using(options, async (store) => {
      await expect(store.changes({})).rejects.toMatchObject({ code: 50100 });
      await store.create({ id: 2n, name: 'Ficus' });
      expect(await store.delete(1n)).toBe(true);
    });
    expect(await switchFeed(options, 'on')).toBe(true);
    await using(options, async (store) => {
      await expect(store.changes({ after: before })).rejects.toMatchObject({ code: 41000 });
      const { next } = await store.changes({});
      await store.delete(2n);
      await store.create({ id: 3n, name: 'Calathea' });
      const page = await store.changes({ after: next });
      expect(summaryOf(page)).toEqual(['deleted 2', 'created 3']);
    });
  });
});

it('drops the index and records no changes after the feed is switched off', async () => {
  const { databaseUrl, sql } = await createStore();
  await switchFeed({ databaseUrl }, 'off');
  expect(await sql`select from pg_class where relname = 'plants_changed_in'`).toEqual([]);
  await sql`insert into plants (id, name) values (1, 'Hoya')`;
  expect(await sql`select changed_in from plants`).toEqual([{ changed_in: null }]);
});

it('leaves the feed off when a later version of the store migrates the tables', async () => {
  const { databaseUrl, sql } = await createStore();
  await switchFeed({ databaseUrl }, 'off');
  await sql`delete from drizzle.__drizzle_migrations
    where id = (select max(id) from drizzle.__drizzle_migrations)`;
  await (await openPlantStore({ databaseUrl })).close();
  await sql`insert into plants (id, name) values (1, 'Hoya')`;
  expect(await sql`select changed_in from plants`).toEqual([{ changed_in: null }]);
});

it('does not rewrite the table when the feed is switched on, and blocks no create', async () => {
  const { databaseUrl, sql } = await createStore();
  await sql`insert into plants (id, name) values (1, 'Hoya')`;
  await switchFeed({ databaseUrl }, 'off');
  const file = () => sql`select pg_relation_filenode('plants')`;
  const before = await file();
  const other = await sql.reserve();
  await other`begin`;
  // The build of the index waits for the end of this open transaction.
  await other`select pg_current_xact_id()`;
  const switching = switchFeed({ databaseUrl }, 'on');
  await vi.waitFor(async () =>
    expect(
      await sql`select from pg_stat_progress_create_index where datname = current_database()`,
    ).toHaveLength(1),
  );
  await sql`insert into plants (id, name) values (2, 'Ficus')`;
  await other`commit`;
  other.release();
  expect(await switching).toBe(true);
  expect(await file()).toEqual(before);
  expect(await sql`select from plants where changed_in is not null`).toEqual([]);
});

it('changes nothing while another session has locked the table', async () => {
  const { databaseUrl, sql } = await createStore();
  const other = await sql.reserve();
  await other`begin`;
  await other`lock table plants in access share mode`;
  await expect(switchFeed({ databaseUrl }, 'off')).rejects.toMatchObject({
    kind: 'databaseUnavailable',
    databaseCode: '55P03',
  });
  await other`rollback`;
  other.release();
  expect(await sql`select from plant_feed`).toHaveLength(1);
});

it('rejects a database without the tables', async () => {
  const empty = await createDatabase(inject('postgresUrl'));
  await expect(switchFeed({ databaseUrl: empty }, 'off')).rejects.toMatchObject({
    databaseCode: '42P01',
  });
});

it('rejects a database that is read-only', async () => {
  const { databaseUrl, sql } = await createStore();
  await sql.unsafe(`alter database ${sql.options.database} set default_transaction_read_only = on`);
  await expect(switchFeed({ databaseUrl }, 'off')).rejects.toMatchObject({ databaseCode: '25006' });
});
