import type { FaultProxy } from '@plant-store/test-setup';
import type postgres from 'postgres';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import type { Database, OpenOptions } from '../../src/database/database.ts';
import { deadlineIn } from '../../src/database/deadline.ts';
import type { Share } from '../../src/database/verbs.ts';
import { openPostgres } from '../../src/postgres/postgres-database.ts';
import { closeAtEnd, connectBehindProxy } from '../fixtures/databases.ts';

let sql: postgres.Sql;
let proxy: FaultProxy;

beforeEach(async () => {
  ({ sql, proxy } = await connectBehindProxy());
});

/** Opens the database through the proxy, and closes the database after the test. */
async function open(options?: OpenOptions): Promise<Database> {
  return closeAtEnd(await openPostgres(proxy.url, options));
}

/** Runs a statement, as a request does. */
const run = (database: Database, text: string, share: Share = 'lookUps') =>
  database.write(text, [], { share, deadline: deadlineIn(60_000) });

const countPlants = 'select count(*)::int from plants';

const hasTable = async () => {
  const [row] = await sql`select to_regclass('plants') is not null as has_table`;
  return row?.['has_table'];
};

it('migrates when the database is opened, and again when somebody has replaced the database', async () => {
  const database = await open();
  expect((await run(database, countPlants)).rows).toEqual([[0]]);
  expect(proxy.accepted).toBe(2);
  await expect(run(database, 'select x')).rejects.toMatchObject({ databaseCode: '42703' });

  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  for (const accepted of [3, 4]) {
    await sql`drop schema drizzle cascade`;
    await sql`drop table plants, plant_deletions, plant_feed, access_tokens, webhooks`;
    vi.advanceTimersByTime(1_001);
    await expect(run(database, 'select from nowhere')).rejects.toMatchObject({
      databaseCode: '42P01',
    });
    await vi.waitFor(async () => expect(await hasTable()).toBe(true));
    expect((await run(database, countPlants)).rows).toEqual([[0]]);
    expect(proxy.accepted).toBe(accepted);
  }
});

it('lets a statement of a migration run for nearly an hour', async () => {
  await sql`create table settings (value text)`;
  await sql`
    create function record_setting() returns event_trigger language plpgsql
    as $$ begin insert into settings values (current_setting('statement_timeout')); end $$`;
  await sql`
    create event trigger record_setting on ddl_command_end execute function record_setting()`;
  await open();
  expect(await sql`select distinct value from settings`).toEqual([{ value: '54min' }]);
});

it('throws an error that says what to do when the database does not exist', async () => {
  const url = proxy.url.replace(/[^/]*$/, 'no_such_database');
  await expect(openPostgres(url)).rejects.toMatchObject({
    name: 'DatabaseSettingsError',
    message: expect.stringContaining('create that database'),
  });
});

it('migrates before the first statement when Postgres is reachable again', async () => {
  proxy.fault = 'refuse';
  const database = await open();
  await expect(run(database, countPlants)).rejects.toThrow();
  proxy.fault = 'none';
  expect((await run(database, countPlants)).rows).toEqual([[0]]);
});

it('with `requireConnection`, throws an error while Postgres is unreachable', async () => {
  proxy.fault = 'refuse';
  await expect(open({ requireConnection: true })).rejects.toMatchObject({
    kind: 'databaseUnavailable',
  });
  expect(proxy.accepted).toBe(1);
  proxy.fault = 'none';
  await open({ requireConnection: true });
  expect(await hasTable()).toBe(true);
});

it('with `readOnly`, does not migrate', async () => {
  const database = await open({ readOnly: true });
  await expect(run(database, countPlants)).rejects.toMatchObject({ databaseCode: '42P01' });
  await expect(run(database, 'select from nowhere')).rejects.toMatchObject({
    databaseCode: '42P01',
  });
  expect(proxy.accepted).toBe(1);
  await sql.unsafe(`alter database ${sql.options.database} set default_transaction_read_only = on`);
  const replica = await open({ readOnly: true });
  for (const share of ['lookUps', 'bulk'] as const) {
    expect((await run(replica, 'show application_name', share)).rows).toEqual([
      [`plant-store tool process ${process.pid}`],
    ]);
  }
});

it('limits the time of statements on the server, and gives bulk statements more time', async () => {
  const settings = "current_setting('statement_timeout'), current_setting('lock_timeout')";
  const limits = async (of: Database, share?: Share) =>
    (await run(of, `select ${settings}`, share)).rows;
  const database = await open();
  expect(await limits(database)).toEqual([['4500ms', '4s']]);
  expect(await limits(database, 'bulk')).toEqual([['9min', '10s']]);
  expect(await limits(await open({ readOnly: true }), 'bulk')).toEqual([['9min', '4s']]);
});
