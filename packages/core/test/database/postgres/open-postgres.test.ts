import { createDatabase, type FaultProxy, startFaultProxy } from '@plant-store/test-setup';
import postgres from 'postgres';
import { beforeEach, describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import type { Database, OpenOptions } from '../../../src/database/database.ts';
import { openPostgres } from '../../../src/database/postgres/postgres-database.ts';

let sql: postgres.Sql;
let proxy: FaultProxy;

beforeEach(async () => {
  const databaseUrl = await createDatabase(inject('postgresUrl'));
  sql = postgres(databaseUrl, { onnotice: () => {} });
  proxy = await startFaultProxy(databaseUrl);
  onTestFinished(async () => {
    proxy.close();
    await sql.end();
  });
});

/** Opens the database through the proxy; it is closed after the test. */
async function open(options?: OpenOptions): Promise<Database> {
  const database = await openPostgres(proxy.url, options);
  onTestFinished(() => database.close());
  return database;
}

const countPlants = 'select count(*)::int from plants';

const hasTable = async () => {
  const [row] = await sql`select to_regclass('plants') is not null as has_table`;
  return row?.['has_table'];
};

it('migrates when it opens, and again only for a database that is new', async () => {
  const { query } = await open();
  expect((await query(countPlants, [])).rows).toEqual([[0]]);
  expect(proxy.accepted).toBe(2); // One connection is the migration's.
  await expect(query('select x', [])).rejects.toMatchObject({ code: '42703' });

  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  for (const accepted of [3, 4]) {
    await sql`drop schema drizzle cascade`;
    await sql`drop table plants, access_tokens`;
    vi.advanceTimersByTime(1_001);
    // Only the first of these statements starts a migration.
    for (let i = 0; i < 3; i++) {
      await expect(query('select from nowhere', [])).rejects.toMatchObject({ code: '42P01' });
    }
    await vi.waitFor(async () => expect(await hasTable()).toBe(true));
    expect((await query(countPlants, [])).rows).toEqual([[0]]);
    expect(proxy.accepted).toBe(accepted);
  }
});

it('migrates also when Drizzle finds that a table is missing', async () => {
  const { db } = await open();
  await sql`drop schema drizzle cascade`;
  await sql`drop table plants, access_tokens`;
  await expect(db.execute('select from plants')).rejects.toThrow();
  await vi.waitFor(async () => expect(await hasTable()).toBe(true));
});

it('lists over the same connections as it creates, because it is no cluster', async () => {
  const { query, allNodes } = await open();
  await query(countPlants, []);
  expect(await allNodes?.db.execute(countPlants)).toEqual([{ count: 0 }]);
  expect((await allNodes?.query(countPlants, []))?.rows).toEqual([[0]]);
  expect(proxy.accepted).toBe(2); // One connection is the migration's.
});

it('gives a statement of a migration nearly an hour', async () => {
  await sql`create table settings (value text)`;
  await sql`
    create function record_setting() returns event_trigger language plpgsql
    as $$ begin insert into settings values (current_setting('statement_timeout')); end $$`;
  await sql`
    create event trigger record_setting on ddl_command_end execute function record_setting()`;
  await open();
  expect(await sql`select distinct value from settings`).toEqual([{ value: '54min' }]);
});

it('throws an error that says what to change when the settings are wrong', async () => {
  const url = proxy.url.replace(/[^/]*$/, 'no_such_database');
  await expect(openPostgres(url)).rejects.toMatchObject({
    name: 'DatabaseSettingsError',
    message: expect.stringContaining('create that database'),
  });
});

it('migrates as soon as the Postgres is reachable', async () => {
  proxy.fault = 'refuse';
  const { query } = await open();
  await expect(query(countPlants, [])).rejects.toThrow();
  proxy.fault = 'none';
  await vi.waitFor(async () => expect(await hasTable()).toBe(true));
  await vi.waitFor(() => query(countPlants, []));
});

it('fails while the Postgres is unreachable when it must answer', async () => {
  proxy.fault = 'refuse';
  await expect(open({ mustAnswer: true })).rejects.toMatchObject({ kind: 'databaseUnavailable' });
  expect(proxy.accepted).toBe(1);
  proxy.fault = 'none';
  await open({ mustAnswer: true });
  expect(await hasTable()).toBe(true);
});

it('does not migrate when it only reads', async () => {
  const { query, onNode } = await open({ readOnly: true });
  expect(onNode).toBeUndefined();
  await expect(query(countPlants, [])).rejects.toMatchObject({ code: '42P01' });
  await expect(query('select from nowhere', [])).rejects.toMatchObject({ code: '42P01' });
  expect(proxy.accepted).toBe(1);
  await sql.unsafe(`alter database ${sql.options.database} set default_transaction_read_only = on`);
  const replica = await open({ readOnly: true });
  expect((await replica.query('select 1', [])).rows).toEqual([[1]]);
  expect((await replica.bulk.query('select 1', [])).rows).toEqual([[1]]);
});

it('limits statements on the server, and those about many plants less', async () => {
  const limits = async ({ query }: Pick<Database, 'query'>) => {
    const settings = ['statement_timeout', 'lock_timeout'];
    return Promise.all(settings.map(async (each) => (await query(`show ${each}`, [])).rows[0]));
  };
  const database = await open();
  expect(await limits(database)).toEqual([['4500ms'], ['4s']]);
  expect(await limits(database.bulk)).toEqual([['9min'], ['10s']]);
  const reading = await open({ readOnly: true });
  expect(await limits(reading.bulk)).toEqual([['9min'], ['4s']]);
});

it('copies plants in and out', async () => {
  const { bulk } = await open();
  await bulk.copyPlants(Buffer.from('1\tHoya\n2\tFicus\n'), 'id, name');
  const copies = await bulk.openCopies();
  const rows: Uint8Array[] = [];
  const select = 'select id, name from plants order by id';
  for await (const block of copies.copyOut(select, 'text')) rows.push(block);
  expect(Buffer.concat(rows).toString()).toBe('1\tHoya\n2\tFicus\n');
  await copies.close();
  const { rows: names } = await bulk.query('select name from plants order by id', []);
  expect(names).toEqual([['Hoya'], ['Ficus']]);
});

it('closes all connections', async () => {
  const database = await open();
  await Promise.all([database.query('select 1', []), database.bulk.query('select 1', [])]);
  expect(proxy.open).toBe(2);
  await database.close();
  await vi.waitFor(() => expect(proxy.open).toBe(0));
});

it('tries to migrate no more when it is closed', async () => {
  proxy.fault = 'refuse';
  const database = await open();
  await database.close();
  // The attempt that it waits for at that moment is the last one.
  await vi.waitFor(() => expect(proxy.accepted).toBe(2));
  const other = await startFaultProxy(proxy.url);
  onTestFinished(() => other.close());
  other.fault = 'refuse';
  const another = await openPostgres(other.url);
  onTestFinished(() => another.close());
  await vi.waitFor(() => expect(other.accepted).toBe(3));
  expect(proxy.accepted).toBe(2);
});

describe('on a node of a cluster', () => {
  const clusterId = 'the cluster';

  /** Makes the database the coordinator of a cluster, as far as the store can tell. */
  async function makeCoordinator(): Promise<void> {
    await sql`
      insert into pg_extension
        (oid, extname, extowner, extnamespace, extrelocatable, extversion)
      select 1234567, 'citus', extowner, extnamespace, extrelocatable, extversion
      from pg_extension where extname = 'plpgsql'`;
    await sql`create schema citus`;
    await sql`create table citus.pg_dist_local_group as select 0 as groupid`;
    await sql.unsafe(`
      create function citus.plant_store_cluster() returns text language sql
      as $$ select '${clusterId}' $$`);
    await sql.unsafe(`alter database ${sql.options.database} set search_path = public, citus`);
  }

  const node = (address: string) => ({ id: 0, address, shards: 1, share: 1, someId: 0n });

  it('gives each node connections of its own, and closes them', async () => {
    await makeCoordinator();
    const database = await open();
    const address = new URL(proxy.url).host;
    const access = database.onNode?.(node(address), clusterId);
    if (!access) throw new Error('the database is a coordinator');
    expect((await access.query('show statement_timeout', [])).rows).toEqual([['4500ms']]);
    expect(access.isDirect).toBe(true);
    expect(database.onNode?.(node(address), clusterId)).toBe(access);
    expect(database.onNode?.(node('127.0.0.1:1'), clusterId)).not.toBe(access);
    expect(database.onNode?.(node(address), 'another cluster')).not.toBe(access);
    expect(database.onNode?.({ ...node(address), id: 1 }, clusterId)).not.toBe(access);
    await database.close();
    await vi.waitFor(() => expect(proxy.open).toBe(0));
  });

  it('reaches a node through its own when it cannot reach that itself', async () => {
    await makeCoordinator();
    const database = await open();
    const access = database.onNode?.(node('127.0.0.1:1'), clusterId);
    expect((await access?.query('select 1', []))?.rows).toEqual([[1]]);
    expect(access?.isDirect).toBe(false);
  });

  it('has no nodes on a database that is no part of a cluster', async () => {
    expect((await open()).onNode).toBeUndefined();
  });
});
