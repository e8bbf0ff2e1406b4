import type { FaultProxy } from '@plant-store/test-setup';
import type postgres from 'postgres';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Database, OpenOptions } from '../../src/database/database.ts';
import { deadlineIn } from '../../src/database/deadline.ts';
import type { Share } from '../../src/database/verbs.ts';
import { openPostgres } from '../../src/postgres/postgres-database.ts';
import { closeAtEnd, connectBehindProxy } from '../fixtures/databases.ts';
import { startPooler } from '../fixtures/proxy.ts';

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

it('warns only once when the pooler does not support prepared statements', async () => {
  const port = String(await startPooler(proxy.url));
  const database = closeAtEnd(await openPostgres(Object.assign(new URL(proxy.url), { port }).href));
  const connect = async () => {
    const connection = await database.nodes?.connect();
    onTestFinished(() => connection?.close());
  };
  await connect(); // No listener gets the first warning.
  const warnings: string[] = [];
  database.onWarning((message) => warnings.push(message));
  for (let i = 0; i < 2; i++) await connect();
  expect(warnings).toEqual([expect.stringContaining('use 1.21 or newer')]);
});

describe('a database on a cluster', () => {
  const openNodes = async () => {
    const { nodes } = await open();
    if (!nodes) throw new Error('a server can be a part of a cluster');
    return nodes;
  };

  it('connects to its own node and to other nodes', async () => {
    const nodes = await openNodes();
    const { hostname, port } = new URL(proxy.url);
    for (const [connection, name] of [
      [await nodes.connect(), 'plant-store'],
      [await nodes.connectTo(hostname, Number(port), 5_000), 'plant-store cluster'],
    ] as const) {
      onTestFinished(() => connection.close());
      expect((await connection.query('show statement_timeout')).rows).toEqual([['4500ms']]);
      expect((await connection.query('show application_name')).rows).toEqual([
        [`${name} process ${process.pid}`],
      ]);
    }
    await expect(nodes.connectTo('127.0.0.1', 1, 5_000)).rejects.toMatchObject({
      code: 'ECONNREFUSED',
    });
  });

  it('ends a lost session on a node when the next connection opens', async () => {
    const nodes = await openNodes();
    const { hostname, port } = new URL(proxy.url);
    const lost = await nodes.connectTo(hostname, Number(port), 5_000);
    const [[pid] = []] = (await lost.query('select pg_backend_pid()')).rows as [number][];
    proxy.forget();
    await lost.close();
    closeAtEnd(await nodes.connectTo(hostname, Number(port), 5_000));
    const session = () => sql`select from pg_stat_activity where pid = ${pid ?? 0}`;
    await vi.waitFor(async () => expect(await session()).toEqual([]));
  });

  it('opens sessions with another application name when the store has detected a cluster', async () => {
    const names = async () => {
      const rows = await sql`
        select application_name as name from pg_stat_activity
        where datname = current_database() and application_name like 'plant-store%'`;
      return rows.map(({ name }) => name);
    };
    const database = await open();
    await Promise.all([run(database, 'select 1'), run(database, 'select 1', 'bulk')]);
    await vi.waitFor(async () =>
      expect(await names()).toEqual(Array(2).fill(`plant-store process ${process.pid}`)),
    );
    database.nodes?.noticeCluster();
    await vi.waitFor(async () => expect(await names()).toEqual([]));
    await Promise.all([run(database, 'select 1'), run(database, 'select 1', 'bulk')]);
    expect(await names()).toEqual(Array(2).fill(`plant-store cluster process ${process.pid}`));
  });

  it('uses four connections for lists on a cluster, and two on other databases', async () => {
    const lists = (database: Database) =>
      Array.from({ length: 6 }, () =>
        database.write(countPlants, [], { share: 'lists', deadline: deadlineIn(60_000) }),
      );
    const waiting = async () => {
      const rows = await sql`
        select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like 'select count%'`;
      return rows.length;
    };
    const database = await open();
    const lock = await sql.reserve();
    await lock`begin`;
    await lock`lock table plants in access exclusive mode`;
    const pending = lists(database);
    await vi.waitFor(async () => expect(await waiting()).toBe(2));
    // The pool then opens two more connections, and runs two of the waiting lists on these connections.
    for (let i = 0; i < 2; i++) database.nodes?.noticeCluster();
    await vi.waitFor(async () => expect(await waiting()).toBe(4));
    await lock`rollback`;
    lock.release();
    for (const { rows } of await Promise.all(pending)) expect(rows).toEqual([[0]]);
  });
});
