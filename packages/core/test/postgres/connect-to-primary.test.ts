import { connect as connectTo, createServer } from 'node:net';
import { promisify } from 'node:util';
import {
  createDatabase,
  type FaultProxy,
  freePort,
  startFaultProxy,
} from '@plant-store/test-setup';
import postgres from 'postgres';
import { beforeAll, beforeEach, expect, inject, it, onTestFinished, vi } from 'vitest';
import {
  type ConnectOptions,
  createConnectToPrimary,
  hostsOf,
} from '../../src/postgres/connect-to-primary.ts';
import { closeAtEnd } from '../fixtures/databases.ts';
import { listen } from '../fixtures/listen.ts';
import { isStart, startProxy } from '../fixtures/proxy.ts';

let databaseUrl: string;
let first: FaultProxy;
let second: FaultProxy;
let url: string;

beforeAll(async () => {
  databaseUrl = await createDatabase(inject('postgresUrl'));
});

/** Starts two proxies that look like two servers of one database. */
beforeEach(async () => {
  first = closeAtEnd(await startFaultProxy(databaseUrl));
  second = closeAtEnd(await startFaultProxy(databaseUrl));
  url = urlOf(portOf(first), portOf(second));
});

const portOf = ({ url }: FaultProxy) => Number(new URL(url).port);

const urlOf = (...ports: number[]) => {
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',');
  return databaseUrl.replace(/@[^/]*/, `@${hosts}`);
};

/** Opens a connection, and closes it again. */
async function connectOnce(connect: ReturnType<typeof createConnectToPrimary>): Promise<void> {
  await (await connect()).close();
}

it('connects to the first reachable host, and tries this host first the next time', async () => {
  first.fault = 'refuse';
  const connect = createConnectToPrimary(url);
  await connectOnce(connect);
  expect([first.accepted, second.accepted]).toEqual([1, 1]);
  first.fault = 'none';
  await connectOnce(connect);
  await connectOnce(connect);
  expect([first.accepted, second.accepted]).toEqual([1, 3]);
  second.fault = 'refuse';
  await connectOnce(connect);
  expect([first.accepted, second.accepted]).toEqual([2, 4]);
});

it('tries each host once, and then throws the error of the last host', async () => {
  const [one, two] = [await freePort(), await freePort()];
  const connect = createConnectToPrimary(urlOf(one, two));
  await expect(connect()).rejects.toMatchObject({ code: 'ECONNREFUSED', port: two });
  first.fault = 'refuse';
  second.fault = 'refuse';
  await expect(createConnectToPrimary(url)()).rejects.toThrow();
  expect([first.accepted, second.accepted]).toEqual([1, 1]);
});

it('skips a host that is read-only', async () => {
  const nameOf = (databaseUrl: string) => new URL(databaseUrl).pathname.slice(1);
  const readOnly = nameOf(await createDatabase(inject('postgresUrl')));
  const sql = postgres(databaseUrl);
  await sql.unsafe(`alter database ${readOnly} set default_transaction_read_only = on`);
  await sql.end();
  const connect = createConnectToPrimary(url.replace(nameOf(databaseUrl), readOnly));
  await expect(connect()).rejects.toThrow(`127.0.0.1:${portOf(second)} is read-only`);
  await connectOnce(createConnectToPrimary(url));
});

it('connects to the next host when a host is silent, and closes the connection that the silent host opens too late', async () => {
  const opened = Promise.withResolvers<void>();
  const { hostname, port } = new URL(databaseUrl);
  const slow = createServer(async (client) => {
    client.on('error', () => {});
    await opened.promise;
    const server = connectTo({ host: hostname, port: Number(port) });
    client.pipe(server.on('error', () => {})).pipe(client);
  });
  const connection = closeAtEnd(
    await createConnectToPrimary(urlOf(await listen(slow), portOf(second)))(),
  );
  expect(second.open).toBe(1);
  const connections = promisify(slow.getConnections.bind(slow));
  expect(await connections()).toBeGreaterThan(0);
  opened.resolve();
  await vi.waitFor(async () => expect(await connections()).toBe(0));
  expect(connection.isOpen).toBe(true);
});

it('tries the second host before it tries the silent first host again', async () => {
  const connect = createConnectToPrimary(url);
  for (let i = 0; i < 3; i++) await connectOnce(connect);
  first.fault = 'blackhole';
  await connectOnce(connect);
  expect([first.accepted, second.accepted]).toEqual([4, 1]);
});

it('does not try to connect when no time is left', async () => {
  const connect = createConnectToPrimary(url, { connectTimeout: 0 });
  await expect(connect()).rejects.toThrow('no response within 0 ms');
  expect(first.accepted).toBe(0);
});

it('tries a silent host repeatedly until the timeout, and closes all sockets', async () => {
  const silent = createServer((socket) => socket.resume());
  let accepted = 0;
  silent.on('connection', () => accepted++);
  const connect = createConnectToPrimary(urlOf(await listen(silent)), { connectTimeout: 2_500 });
  await expect(connect()).rejects.toThrow('no response within');
  expect(accepted).toBeGreaterThan(1);
  const connections = promisify(silent.getConnections.bind(silent));
  await vi.waitFor(async () => expect(await connections()).toBe(0));
});

it('sets time limits for statements and for locks in the session', async () => {
  const show = async (options?: ConnectOptions) => {
    const { query } = closeAtEnd(await createConnectToPrimary(url, options)());
    const settings = "current_setting('statement_timeout'), current_setting('lock_timeout')";
    return (await query(`select ${settings}`)).rows;
  };
  expect(await show({ timeout: 1_000, lockTimeout: 700 })).toEqual([['900ms', '700ms']]);
  // The longest time limit of Postgres is 2147483647 ms. Without a limit from the store, the limit of the
  // database user would apply.
  expect(await show({ timeout: Number.POSITIVE_INFINITY })).toEqual([[`${2 ** 31 - 1}ms`, '4s']]);
});

it('sends no time limits to a pooler after the pooler has rejected them', async () => {
  const { port, rejections } = await startStrictPooler();
  const connect = createConnectToPrimary(urlOf(port));
  const connection = closeAtEnd(await connect());
  expect((await connection.query('show statement_timeout')).rows).toEqual([['0']]);
  await connectOnce(connect);
  expect(rejections()).toBe(1);
});

it('does not try again without time limits when the error does not concern the time limits', async () => {
  const { port, rejections } = await startStrictPooler('no such pool');
  await expect(createConnectToPrimary(urlOf(port))()).rejects.toThrow('no such pool');
  expect(rejections()).toBe(1);
});

it('tries again without time limits only once, and then throws the error of the pooler', async () => {
  const message = 'unsupported startup parameter: search_path';
  const { port, rejections } = await startStrictPooler(message, 'application_name');
  await expect(createConnectToPrimary(urlOf(port))()).rejects.toThrow(message);
  expect(rejections()).toBe(2);
});

it.each([
  ['postgres://a,b:2/d', ['a:5432', 'b:2']],
  ['postgres://a:1,b/d', ['a:1', 'b:5432']],
  ['postgres://[::1]:2,/d', ['::1:2', 'localhost:5432']],
  ['postgres://a:1,:2/d', ['a:1', 'localhost:2']],
  ['postgres:///d?host=/run', ['/run:5432']],
  ['postgres:///d', ['localhost:5432']],
])('finds the hosts of the URL %s', (databaseUrl, expected) => {
  expect(hostsOf(databaseUrl).map(({ host, port }) => `${host}:${port}`)).toEqual(expected);
});

it('reads hosts from the environment variables of the driver when the URL has none', () => {
  vi.stubEnv('PGHOST', 'h');
  vi.stubEnv('PGPORT', '7');
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(hostsOf('postgres:///d')).toEqual([{ host: 'h', port: 7 }]);
  expect(hostsOf('postgres://a/d')).toEqual([{ host: 'a', port: 7 }]);
});

/** Starts a pooler that rejects a start-up message with a certain parameter. */
async function startStrictPooler(
  message = 'unsupported startup parameter: statement_timeout',
  parameter = 'statement_timeout',
) {
  let rejections = 0;
  const port = await startProxy(databaseUrl, {
    request(start, client) {
      if (!isStart(start) || !start.includes(parameter)) return start;
      rejections++;
      client.end(errorResponse({ S: 'FATAL', V: 'FATAL', C: '08P01', M: message }));
      return Buffer.alloc(0);
    },
  });
  return { port, rejections: () => rejections };
}

function errorResponse(fields: Record<string, string>): Buffer {
  const text = Object.entries(fields).map(([type, value]) => `${type}${value}\0`);
  const body = Buffer.from(`${text.join('')}\0`);
  const head = Buffer.alloc(5, 'E');
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}
