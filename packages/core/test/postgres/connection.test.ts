import { createServer } from 'node:net';
import { promisify } from 'node:util';
import {
  createDatabase,
  type FaultProxy,
  startFaultProxy,
  startPostgres,
} from '@plant-store/test-setup';
import postgres from 'postgres';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  inject,
  it,
  onTestFinished,
  vi,
} from 'vitest';
import { cancelStatement } from '../../src/postgres/cancel-request.ts';
import {
  type Connection,
  type ConnectionOptions,
  connectPostgres,
} from '../../src/postgres/connection.ts';
import { LeftBehind } from '../../src/postgres/left-behind.ts';
import { closeAtEnd } from '../fixtures/databases.ts';
import { listen } from '../fixtures/listen.ts';
import { startPooler, startProxy } from '../fixtures/proxy.ts';

let databaseUrl: string;
let sql: postgres.Sql;
let proxy: FaultProxy;

beforeAll(async () => {
  databaseUrl = await createDatabase(inject('postgresUrl'));
  sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
});

afterAll(() => sql.end());

beforeEach(async () => {
  proxy = await startFaultProxy(databaseUrl);
});

/** Removes the settings and the sessions that a test has left behind. */
afterEach(async () => {
  proxy.close();
  await sql.unsafe(`alter database ${sql.options.database} reset all`);
  await sql`
    select pg_terminate_backend(pid, 60000) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`;
});

/** Connects through the proxy, and closes the connection after the test. */
async function connect(options: Partial<ConnectionOptions> = {}): Promise<Connection> {
  const port = Number(new URL(proxy.url).port);
  const target = { url: proxy.url, host: '127.0.0.1', port, timeout: 5_000 };
  return closeAtEnd(await connectPostgres({ ...target, ...options }));
}

const setDatabase = (setting: string) =>
  sql.unsafe(`alter database ${sql.options.database} set ${setting}`);

const show = async ({ query }: Connection, setting: string) =>
  (await query(`show ${setting}`)).rows;

const sleeping = () => sql`
  select from pg_stat_activity
  where query like 'select pg_sleep%' and state = 'active' and datname = current_database()`;

/** Starts a long statement. `error` is a promise of the error that ends the statement. */
async function startSleep({ query }: Connection) {
  const error = query('select pg_sleep(60)').catch((cause: unknown) => cause);
  await vi.waitFor(async () => expect(await sleeping()).toHaveLength(1));
  return { error };
}

it('returns rows as arrays or objects, and counts the returned or changed rows', async () => {
  const { query } = await connect();
  const select = 'select 1 as a, $1::text as b';
  expect(await query(select, ['x'])).toEqual({ rows: [[1, 'x']], count: 1 });
  expect(await query(select, ['x'], 'arrays')).toEqual({ rows: [[1, 'x']], count: 1 });
  expect(await query(select, ['x'], 'objects')).toEqual({ rows: [{ a: 1, b: 'x' }], count: 1 });
  await query('create temporary table numbers as select generate_series(1, 3) as number');
  expect(await query('delete from numbers')).toEqual({ rows: [], count: 3 });
});

it('returns all rows of a statement even when the previous statement failed between two rows', async () => {
  const { query } = await connect();
  const failing = 'select 1 / (5000 - n) from generate_series(1, 5001) as n';
  await expect(query(failing)).rejects.toMatchObject({ code: '22012' });
  expect(await query('select 7')).toEqual({ rows: [[7]], count: 1 });
});

it('sets what its statements rely on, even when the database and the URL have other settings', async () => {
  await setDatabase('array_nulls = off');
  await setDatabase('bytea_output = escape');
  await setDatabase('extra_float_digits = -15');
  await setDatabase('client_min_messages = error');
  await setDatabase(`default_transaction_isolation = 'serializable'`);
  const ofUrl = 'client_encoding=LATIN1&datestyle=German&timezone=Asia/Tokyo';
  const { query } = await connect({ url: `${proxy.url}?${ofUrl}` });
  const { rows } = await query(`
    select '{NULL}'::text[]::text, '\\x00ff'::bytea::text, 1234.5::float8::text, '日本',
      timestamptz '2026-11-22 09:30:00Z'::text, current_setting('client_min_messages'),
      current_setting('transaction_isolation')`);
  const times = '2026-11-22 09:30:00+00';
  expect(rows).toEqual([
    ['{NULL}', '\\x00ff', '1234.5', '日本', times, 'warning', 'read committed'],
  ]);
});

it('does not close a connection that is old or idle', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
  onTestFinished(() => void vi.useRealTimers());
  const connection = await connect();
  await connection.query('select 1');
  await vi.advanceTimersByTimeAsync(24 * 3_600_000);
  expect(connection.isOpen).toBe(true);
  expect((await connection.query('select 1')).rows).toEqual([[1]]);
  vi.useRealTimers();
});

it('says that a server does not offer TLS', async () => {
  const port = new URL(proxy.url).port;
  await expect(connect({ url: `${proxy.url}?sslmode=require` })).rejects.toMatchObject({
    code: 'TLS_NOT_OFFERED',
    message: `127.0.0.1:${port} does not offer TLS`,
  });
  const preferring = `${proxy.url}?sslmode=prefer`;
  expect((await connect({ url: preferring })).isOpen).toBe(true);
  await setDatabase('default_transaction_read_only = on');
  await expect(connect({ url: preferring })).rejects.toThrow(/is read-only$/);
});

it('sends the name of the host in the TLS handshake, because a server may have several certificates', async () => {
  const hello = Promise.withResolvers<Buffer>();
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.once('data', (chunk) => {
        hello.resolve(chunk);
        socket.destroy();
      });
      socket.write('S');
    });
  });
  const port = await listen(server);
  const url = 'postgres://localhost/plants?sslmode=verify-full';
  const connecting = expect(connect({ url, host: 'localhost', port })).rejects.toThrow();
  expect((await hello.promise).includes('localhost')).toBe(true);
  await connecting;
});

const prepared = 'select statement from pg_prepared_statements';

it('prepares a statement once, even after an error', async () => {
  const { query } = await connect();
  await query('select x').catch(() => {});
  for (let i = 0; i < 3; i++) await query('select $1::int', ['5']);
  expect((await query(prepared)).rows).toEqual([['select $1::int']]);
});

it.each([
  ['off', 'on'],
  ['local', 'on'],
  ['remote_write', 'on'],
  ['remote_apply', 'remote_apply'],
])('replaces synchronous_commit %s by %s', async (set, used) => {
  await setDatabase(`synchronous_commit = ${set}`);
  expect(await show(await connect(), 'synchronous_commit')).toEqual([[used]]);
});

it('commits durably even after the settings of the server have changed', async () => {
  const server = await startPostgres({ fsync: 'off' });
  onTestFinished(() => server.stop());
  const { port } = new URL(server.url);
  const connection = await connect({ url: server.url, port: Number(port) });
  const admin = postgres(server.url, { max: 1 });
  onTestFinished(() => admin.end());
  for (const setting of ['off', 'local']) {
    await admin.unsafe(`alter system set synchronous_commit = ${setting}`);
    await admin`select pg_reload_conf()`;
    await vi.waitFor(async () =>
      expect(await admin`show synchronous_commit`).toEqual([{ synchronous_commit: setting }]),
    );
    expect(await show(connection, 'synchronous_commit')).toEqual([['on']]);
  }
});

it('with `readOnly`, changes no settings and accepts a read-only server', async () => {
  await setDatabase('synchronous_commit = off');
  const reading = await connect({ readOnly: true });
  expect(await show(reading, 'synchronous_commit')).toEqual([['off']]);
  expect(reading.isReadOnly).toBe(false);
  await setDatabase('default_transaction_read_only = on');
  expect((await connect({ readOnly: true })).isReadOnly).toBe(true);
});

it('changes no settings and prepares no statements in the session of a pooler', async () => {
  await setDatabase('synchronous_commit = off');
  const port = await startPooler(proxy.url);
  const connection = await connect({ port });
  expect(await show(connection, 'synchronous_commit')).toEqual([['off']]);
  for (let i = 0; i < 3; i++) await connection.query('select $1::int', ['5']);
  expect((await connection.query(prepared)).rows).toEqual([]);
});

it('returns undefined from `isCommitting` on a connection through a pooler', async () => {
  const pooled = await connect({ port: await startPooler(proxy.url) });
  const other = await connect();
  expect(await pooled.isCommitting(other)).toBeUndefined();
  expect(await other.isCommitting(pooled)).toBe(false);
});

it('prepares statements behind a pooler until the pooler loses a prepared statement', async () => {
  let sent = '';
  let hasLost = false;
  const port = await startPooler(proxy.url, (message) => {
    const text = message.toString('latin1');
    sent += text;
    // The expression finds the message Parse, which contains the name of the statement.
    const [, ours] = /P.{4}(\w+)\w\0select name from/s.exec(sent) ?? [];
    if (!ours) return message;
    const renamed = hasLost
      ? // Renames the statement only in messages that execute the statement.
        text.replaceAll(`\0${ours}`, `\0-${ours.slice(1)}`)
      : // Renames the prepared statement in all messages, but not in the text of a query.
        text.replaceAll(new RegExp(`(?<!")${ours}`, 'g'), `_${ours.slice(1)}`);
    return Buffer.from(renamed, 'latin1');
  });
  const { query } = await connect({ port });
  // A pooler may change the session between statements, but not inside a transaction.
  expect(sent).toMatch(/begin.*select name from.*commit/s);
  expect((await query('select $1::int', ['5'])).rows).toEqual([[5]]);
  expect((await query(prepared)).rows).toContainEqual(['select $1::int']);

  hasLost = true;
  expect((await query('select $1::int', ['6'])).rows).toEqual([[6]]);
  expect((await query('select $1::text', ['x'])).rows).toEqual([['x']]);
  expect((await query(prepared)).rows).not.toContainEqual(['select $1::text']);
});

it('prepares no statement when a session of the pooler has a prepared statement of another client', async () => {
  const statement = 'select name from pg_prepared_statements where statement = $1';
  const parse = Buffer.from(`P\0\0\0\0other\0${statement}\0\0\0`);
  parse.writeUInt32BE(parse.length - 1, 1);
  const port = await startPooler(proxy.url, (message) =>
    message.includes('begin') ? Buffer.concat([parse, message]) : message,
  );
  const { query } = await connect({ port });
  expect((await query('select $1::int', ['5'])).rows).toEqual([[5]]);
  expect((await query(prepared)).rows).toEqual([[statement]]);
});

it('throws an error when a server does not respond in time, and closes the socket', async () => {
  const silent = createServer({ allowHalfOpen: true }, (socket) => {
    // The server writes until the client resets the connection. A half-closed socket would not reset the
    // connection, but a closed socket does.
    const timer = setInterval(() => socket.readableEnded && socket.write('x'), 10);
    socket.on('error', () => {}).on('close', () => clearInterval(timer));
    socket.resume();
  });
  const port = await listen(silent);
  await expect(connect({ port, timeout: 100 })).rejects.toThrow('no response within 100 ms');
  const connections = promisify(silent.getConnections.bind(silent));
  await vi.waitFor(async () => expect(await connections()).toBe(0));
});

it('reports why a server cannot be reached', async () => {
  await expect(connect({ host: '/no/such/directory', port: 5432 })).rejects.toMatchObject({
    code: 'ENOENT',
    address: '/no/such/directory/.s.PGSQL.5432',
  });
  proxy.fault = 'refuse';
  await expect(connect()).rejects.toThrow();
  expect(proxy.accepted).toBe(1);
});

it('does not reconnect after the server has ended the session', async () => {
  const connection = await connect();
  expect(connection.isOpen).toBe(true);
  await expect(connection.query('select pg_terminate_backend(pg_backend_pid())')).rejects.toThrow();
  await vi.waitFor(() => expect(connection.isOpen).toBe(false));
  await expect(connection.query('select 1')).rejects.toThrow('the database closed the connection');
  expect(proxy.accepted).toBe(1);
});

it('throws an error when the server warns that a commit may be lost, and then runs other statements', async () => {
  const { query, copy } = await connect();
  // An earlier test may have created the role.
  await query('create role nobody_in_particular').catch(() => {});
  await query('create temporary table numbers (number int)');
  await query('grant all on numbers to public');
  await query('set role nobody_in_particular');
  const message = 'the database warned that the commit may be lost';
  // The warning of `analyze` looks like the warning about a commit: code 01000, and no context.
  await expect(query('analyze pg_authid')).rejects.toThrow(message);
  expect(await query('select 1')).toEqual({ rows: [[1]], count: 1 });
  await expect(query('analyze pg_authid')).rejects.toThrow(message);
  await copy('copy numbers from stdin', Buffer.from('1\n'));
  expect(await query('select number from numbers')).toEqual({ rows: [[1]], count: 1 });
});

it('ignores notices, and ignores warnings from functions', async () => {
  const { query } = await connect();
  for (const level of ['notice', 'warning']) {
    const statement = `do $$ begin raise ${level} 'from a function'; end $$`;
    expect(await query(statement)).toMatchObject({ rows: [] });
  }
  for (let i = 0; i < 2; i++) {
    // The second time, the table already exists, so the server sends a notice.
    const create = 'create temporary table if not exists numbers (number int)';
    expect(await query(create)).toMatchObject({ rows: [] });
  }
});

it('writes all rows with COPY, or no row after an error', async () => {
  const { query, copy } = await connect();
  await query('create temporary table numbers (number int primary key)');
  await copy('copy numbers from stdin', Buffer.from('1\n2\n'));
  await expect(copy('copy numbers from stdin', Buffer.from('3\n1\n'))).rejects.toMatchObject({
    code: '23505',
  });
  await expect(copy('copy numbers from stdin', Buffer.from('x\n'))).rejects.toMatchObject({
    code: '22P02',
  });
  await expect(copy('copy nothing from stdin', Buffer.from('1\n'))).rejects.toMatchObject({
    code: '42P01',
  });
  expect((await query('select number from numbers order by 1')).rows).toEqual([[1], [2]]);
});

it('throws an error when the server warns that the commit of a COPY may be lost', async () => {
  const warning = Buffer.from(
    'N\0\0\0\0SWARNING\0C01000\0Mthe transaction has committed locally\0\0',
  );
  warning.writeUInt32BE(warning.length - 1, 1);
  const port = await startProxy(proxy.url, {
    response: (message) =>
      message.includes('COPY 1') ? Buffer.concat([warning, message]) : message,
  });
  const { query, copy } = await connect({ port });
  await query('create temporary table numbers (number int)');
  await expect(copy('copy numbers from stdin', Buffer.from('1\n'))).rejects.toThrow(
    'the database warned that the commit may be lost',
  );
});

it('reads rows with COPY, and then runs other statements', async () => {
  const connection = await connect();
  for (let i = 0; i < 2; i++) {
    const blocks: Uint8Array[] = [];
    const copy = connection.copyOut('copy (select generate_series(1, 3)) to stdout');
    for await (const block of copy) blocks.push(block);
    expect(Buffer.concat(blocks).toString()).toBe('1\n2\n3\n');
  }
  expect(await connection.query('select 1')).toEqual({ rows: [[1]], count: 1 });
  await expect(connection.copyOut('copy nothing to stdout').next()).rejects.toMatchObject({
    code: '42P01',
  });
  await connection.close();
});

it('cancels an unfinished COPY when the connection is closed', async () => {
  const connection = await connect();
  const copying = () => sql`
    select from pg_stat_activity
    where query like 'copy (select%' and state = 'active' and datname = current_database()`;
  const endless = 'copy (select generate_series(1, 1000000000)) to stdout';
  for await (const block of connection.copyOut(endless)) {
    expect(block.length).toBeGreaterThan(0);
    break;
  }
  expect(await copying()).toHaveLength(1);
  await connection.close();
  await vi.waitFor(async () => expect(await copying()).toEqual([]));
  expect(proxy.accepted).toBe(2);
});

it('converts a deadline to the clock of the database', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2001-01-01') });
  onTestFinished(() => void vi.useRealTimers());
  const connection = await connect();
  const now = performance.now();
  const { rows } = await connection.query(
    `select $1::timestamptz between clock_timestamp() - interval '1 min' and clock_timestamp(),
      $2::timestamptz - $1::timestamptz between interval '59 min' and interval '61 min'`,
    [connection.timeOf(now), connection.timeOf(now + 3_600_000)],
  );
  expect(rows).toEqual([[true, true]]);
});

it('cancels the running statement, and then runs the next statement', async () => {
  const connection = await connect();
  await connection.cancel();
  expect(proxy.accepted).toBe(1); // No statement runs, so the connection sends no cancel request.
  const { error } = await startSleep(connection);
  await connection.cancel();
  expect(await error).toMatchObject({ code: '57014' });
  expect((await connection.query('select 1')).rows).toEqual([[1]]);
  expect(connection.isOpen).toBe(true);
});

describe('the session of a lost connection', () => {
  const sessions = async () => {
    const rows = await sql`
      select pid from pg_stat_activity
      where application_name like 'plant-store%' and datname = current_database() order by pid`;
    return rows.map(({ pid }) => pid);
  };

  it('ends the sessions of lost connections when the next connection opens', async () => {
    const leftBehind = new LeftBehind();
    const [first, second] = [await connect({ leftBehind }), await connect({ leftBehind })];
    const before = await sessions();
    expect(before).toHaveLength(2);
    proxy.forget();
    await Promise.all([first.close(), second.close()]);
    expect(await sessions()).toEqual(before);
    const third = await connect({ leftBehind });
    const [[pid] = []] = (await third.query('select pg_backend_pid()')).rows as [number][];
    await vi.waitFor(async () => expect(await sessions()).toEqual([pid]));
    expect((await third.query('select 1')).rows).toEqual([[1]]);
  });

  it('ends no session with a different address or a different start time', async () => {
    const leftBehind = new LeftBehind();
    const other = await connect();
    const [[pid, startedAt] = []] = (
      await other.query(
        `select pid, backend_start::text from pg_stat_activity where pid = pg_backend_pid()`,
      )
    ).rows as [number, string][];
    const port = Number(new URL(proxy.url).port);
    const session = { host: '127.0.0.1', port, pid: pid ?? 0, startedAt: startedAt ?? '' };
    leftBehind.add({ ...session, port: port + 1 });
    leftBehind.add({ ...session, host: 'elsewhere' });
    leftBehind.add({ ...session, startedAt: '2001-01-01' });
    await connect({ leftBehind });
    expect((await other.query('select 1')).rows).toEqual([[1]]);
    leftBehind.add(session);
    await connect({ leftBehind });
    await vi.waitFor(() => expect(other.isOpen).toBe(false));
  });
});

it('cancels the running statement when the connection is closed', async () => {
  const connection = await connect();
  const { error } = await startSleep(connection);
  const closed = connection.close();
  expect(connection.isOpen).toBe(false);
  await closed;
  expect(await error).toMatchObject({ code: '57014' });
  await vi.waitFor(async () => expect(await sleeping()).toHaveLength(0));
  await vi.waitFor(() => expect(proxy.open).toBe(0));
});

it('sends no cancel request when the connection is closed and no statement runs', async () => {
  const connection = await connect();
  await connection.query('select 1');
  await connection.query('select 1 / 0').catch(() => {});
  for await (const _ of connection.copyOut('copy (select 1) to stdout'));
  await connection.close();
  expect(connection.isOpen).toBe(false);
  expect(proxy.accepted).toBe(1);
  await vi.waitFor(() => expect(proxy.open).toBe(0));
});

it('closes the connection even when the server no longer responds', async () => {
  const connection = await connect();
  const { error } = await startSleep(connection);
  proxy.fault = 'blackhole';
  await connection.close();
  expect(await error).toBeInstanceOf(Error);
});

it('ends a cancel request without an error when the server is down, silent or closes the connection', async () => {
  const session = { pid: 1, secret: 1 };
  await cancelStatement({ host: '127.0.0.1', port: 1 }, session, 60_000);
  const port = await listen(createServer((socket) => socket.resume()));
  await cancelStatement({ host: '127.0.0.1', port }, session, 100);
  const closing = await listen(
    createServer((socket) => socket.once('data', () => socket.end('x'))),
  );
  await cancelStatement({ host: '127.0.0.1', port: closing }, session, 60_000);
});
