import { once } from 'node:events';
import { Socket } from 'node:net';
import postgres from 'postgres';
import type { Query, Rows } from './database.ts';
import type { DatabaseAddress, Host } from './database-url.ts';
import { timeText, withTimeout } from './deadline.ts';
import { unconfirmedCommit } from './errors.ts';
import type { Session } from './pool.ts';

/** A session on a server of Postgres. */
export interface PostgresSession extends Session {
  readonly host: Host;
  /** The server's process for this session, and its start. Undefined behind a pooler. */
  readonly id: SessionId | undefined;
  readonly isReadOnly: boolean;
  readonly isReplica: boolean;
  /** Runs a statement, and returns its rows as objects. */
  readonly queryObjects: Query;
}

export interface SessionId {
  readonly pid: number;
  /** A later session may get the same process id, but has a later start. */
  readonly startedAt: string;
}

export interface SessionLimits {
  /** The time limits of a statement and of a wait for a lock, in milliseconds. */
  readonly statementTimeout: number;
  readonly lockTimeout: number;
  /** The name in `pg_stat_activity`, before the process id. */
  readonly name: 'plant-store' | 'plant-store tool';
}

/** The time limit for opening a session, in milliseconds. */
const openTimeout = 2_000;

/**
 * Opens a session, or throws after 2 s.
 *
 * postgres.js has no time limit for a statement, and reconnects without a pause when the server closes a
 * connection during its start (porsager/postgres #896, #1154, #1168). So a client has one connection, over a
 * socket that this function makes: the client cannot reconnect, and `drop` can destroy the socket.
 */
export async function openSession(
  host: Host,
  address: DatabaseAddress,
  limits: SessionLimits,
  /** The sessions on this host that this process has dropped, and that may still exist there. */
  dropped: SessionId[],
): Promise<PostgresSession> {
  const { isPooler, credentials } = address;
  // For TLS, postgres.js reads the property `host` of the socket.
  const socket = Object.assign(new Socket(), { host: host.host });
  socket.setNoDelay();
  let [isOpen, isStarted, isUnconfirmed, offersTls] = [true, false, false, true];
  const client = postgres({
    ...credentials,
    ...host,
    ssl: address.tlsOf(host.host),
    max: 1,
    fetch_types: false,
    prepare: !isPooler,
    ...{ connect_timeout: 0, idle_timeout: 0, max_lifetime: 0 },
    ...socketOption(async () => {
      if (isStarted) throw new Error('the database closed the connection');
      isStarted = true;
      socket.connect(isSocket(host) ? { path: `${host.host}/.s.PGSQL.${host.port}` } : host);
      await once(socket, 'connect');
      socket.once('data', (response: Buffer) => {
        offersTls = response.toString() !== 'N';
      });
      return socket;
    }),
    onclose: () => {
      isOpen = false;
    },
    onnotice: ({ code, where }) => {
      // A warning of a trigger has a context (`where`). The server's own warning concerns the commit.
      isUnconfirmed ||= code === '01000' && !where;
    },
    connection: isPooler ? pooledSettings(address, limits) : startUpSettings(address, limits),
  });

  let id: SessionId | undefined;
  let isBusy = true;
  const drop = () => {
    if (isOpen && id) dropped.push(id);
    isOpen = false;
    void client.end({ timeout: 0 }).finally(() => socket.destroy());
    if (isBusy) socket.destroy();
  };

  const start = async () => {
    const { 0: row, state } = await client.unsafe<[ServerState]>(isPooler ? readState : setUp);
    // The response took some time, so the database's clock is at least this far ahead.
    const clockAhead = Number(row.now) - performance.now();
    if (isPooler) return { row, clockAhead };
    if (row.pid !== state.pid) throw isPoolerError();
    id = { pid: row.pid, startedAt: row.started_at };
    const lost = dropped.splice(0);
    if (lost.length > 0) {
      const [pids, starts] = [lost.map(({ pid }) => pid), lost.map((each) => each.startedAt)];
      await client.unsafe(terminate, [`{${pids}}`, `{${starts.map((each) => `"${each}"`)}}`]);
    }
    return { row, clockAhead };
  };
  const { row, clockAhead } = await withTimeout(start(), openTimeout).catch((error: unknown) => {
    drop();
    throw offersTls ? error : noTlsError(host);
  });
  isBusy = false;

  async function run(text: string, values: readonly (string | null)[], asArrays: boolean) {
    [isBusy, isUnconfirmed] = [true, false];
    try {
      const query = client.unsafe(text, [...values], { prepare: !isPooler });
      const rows = await (asArrays ? query.values() : query);
      if (isUnconfirmed) throw unconfirmedCommit();
      return { rows: withoutHoles(rows), count: rows.count };
    } finally {
      isBusy = false;
    }
  }

  return {
    host,
    id,
    isReadOnly: row.read_only,
    isReplica: row.is_replica,
    address: isSocket(host) ? undefined : host,
    get isOpen() {
      return isOpen;
    },
    timeOf: (deadline) => timeText(deadline + clockAhead),
    query: async (text, values) => (await run(text, values, true)) as Rows,
    // The cast gives the rows the columns that the caller's text selects.
    queryObjects: async (text, values = []) => (await run(text, values, false)).rows as never,
    drop,
  };
}

const isSocket = ({ host }: Host) => host.startsWith('/');

interface ServerState {
  read_only: boolean;
  is_replica: boolean;
  pid: number;
  started_at: string;
  /** Milliseconds since 1970, by the server's clock. */
  now: string;
}

const readState = `
  select current_setting('transaction_read_only') = 'on' as read_only,
    pg_is_in_recovery() as is_replica,
    pg_backend_pid() as pid,
    (select backend_start::text from pg_stat_activity where pid = pg_backend_pid()) as started_at,
    (extract(epoch from clock_timestamp()) * 1000)::text as now`;

/**
 * Also changes the two settings that depend on the server. A commit waits for the disk and the standby, unless
 * it waits even longer. A server on Linux ends a statement whose client has disconnected.
 */
const setUp = `${readState},
    set_config('synchronous_commit', case current_setting('synchronous_commit')
      when 'remote_apply' then 'remote_apply' else 'on' end, false),
    case when version() ~ 'linux'
      then set_config('client_connection_check_interval', '2s', false) end`;

/** Ends sessions that this process has dropped. A firewall may have hidden the end of their connections. */
const terminate = `
  select pg_terminate_backend(activity.pid)
  from unnest($1::int[], $2::timestamptz[]) as lost (pid, started_at)
    join pg_stat_activity as activity on activity.pid = lost.pid and backend_start = started_at`;

/**
 * The settings that the store's statements rely on. A role, a database or a URL may have other values.
 *
 * When `row_security` is off, a policy causes an error instead of hiding rows. When `array_nulls` is off, a
 * missing tag would become the tag "NULL". Without warnings, a commit that the standby lacks would look like
 * any commit. In a stricter isolation level, concurrent writes of one id would fail.
 */
const neededSettings = {
  row_security: 'off',
  array_nulls: 'on',
  bytea_output: 'hex',
  extra_float_digits: '1',
  client_min_messages: 'warning',
  default_transaction_isolation: 'read committed',
};

const timeFormats = { TimeZone: 'UTC', DateStyle: 'ISO' };

/** PgBouncer accepts only these settings. Its role has the others: see `docs/configuration.md`. */
function pooledSettings({ settings }: DatabaseAddress, { name }: SessionLimits) {
  return { ...settings, application_name: `${name} process ${process.pid}`, ...timeFormats };
}

function startUpSettings(address: DatabaseAddress, limits: SessionLimits) {
  return {
    ...pooledSettings(address, limits),
    ...neededSettings,
    statement_timeout: limits.statementTimeout,
    lock_timeout: limits.lockTimeout,
    // With these settings, the server ends the session of a silent client.
    ...{ tcp_keepalives_idle: 10, tcp_keepalives_interval: 5, tcp_keepalives_count: 3 },
    tcp_user_timeout: 25_000,
  };
}

function noTlsError({ host, port }: Host): Error {
  const message = `${host}:${port} does not offer TLS`;
  return Object.assign(new Error(message), { code: 'TLS_NOT_OFFERED' });
}

function isPoolerError(): Error {
  const message = 'a pooler is in front of the database';
  return Object.assign(new Error(message), { code: '08P01' });
}

/**
 * Removes the holes from the beginning of an array of rows. If an error ends a statement after some rows,
 * postgres.js 3.4 leaves such holes in the next array on the connection (`rows` in its connection.js).
 */
function withoutHoles(rows: unknown[]): unknown[] {
  return rows.length > 0 && !(0 in rows) ? rows.filter(() => true) : rows;
}

/** postgres.js documents the option `socket`, but its types lack this option. */
function socketOption(socket: () => Promise<Socket>): object {
  return { socket };
}
