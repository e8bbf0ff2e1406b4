import { once } from 'node:events';
import { Socket } from 'node:net';
import postgres from 'postgres';
import type { Query, Rows, Values } from './database.ts';
import type { DatabaseAddress, Host } from './database-url.ts';
import { timeText, withTimeout } from './deadline.ts';
import { unconfirmedCommit } from './errors.ts';
import type { Session } from './pool.ts';

/** A session on a server of Postgres. */
export interface PostgresSession extends Session {
  /**
   * The server's process id for this session, and its start, because a later session may get the same process
   * id. Undefined behind a pooler.
   */
  readonly id: string | undefined;
  readonly isReadOnly: boolean;
  /** Whether the server has loaded Citus. */
  readonly hasCitus: boolean;
  query(text: string, values: Values, options?: { isPrepared: boolean }): Promise<Rows>;
  /** Runs a statement, and returns its rows as objects. */
  readonly queryObjects: Query;
}

/** The time limits of a statement and of a wait for a lock, in milliseconds. */
export type SessionLimits = Record<'statement_timeout' | 'lock_timeout', number>;

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
  { credentials, isPooler, settings, tlsOf }: DatabaseAddress,
  limits: SessionLimits,
  /** The ids of the sessions on this host that this process has dropped, and that may still exist there. */
  dropped: string[],
): Promise<PostgresSession> {
  const openedAt = performance.now();
  const isUnixSocket = host.host.startsWith('/');
  // For TLS, postgres.js reads the property `host` of the socket.
  const socket = Object.assign(new Socket(), { host: host.host }).setNoDelay();
  const name = { application_name: `plant-store process ${process.pid}` };
  const pooledSettings = { ...settings, ...name, TimeZone: 'UTC', DateStyle: 'ISO' };
  let [isOpen, isStarted, isUnconfirmed] = [true, false, false];
  let id: string | undefined;
  const client = postgres({
    ...credentials,
    ...host,
    ssl: tlsOf(host.host),
    ...{ max: 1, fetch_types: false, prepare: !isPooler },
    ...{ connect_timeout: 0, idle_timeout: 0, max_lifetime: 0 },
    ...socketOption(async () => {
      if (isStarted) throw new Error('the database closed the connection');
      isStarted = true;
      socket.connect(isUnixSocket ? { path: `${host.host}/.s.PGSQL.${host.port}` } : host);
      await once(socket, 'connect');
      return socket;
    }),
    onclose: () => {
      isOpen = false;
    },
    onnotice: ({ code, where }) => {
      // A warning of a trigger has a context (`where`). The server's own warning concerns the commit.
      // Citus has warnings of its own: a node did not hear of a commit (08006), or a part of a page is missing.
      isUnconfirmed ||= ['01000', '08006', 'CIINF'].includes(code ?? '') && !where;
    },
    // PgBouncer accepts no other settings. Its role has them: see `docs/configuration.md`.
    connection: isPooler ? pooledSettings : { ...pooledSettings, ...neededSettings, ...limits },
  });

  const drop = () => {
    if (isOpen && id) dropped.push(id);
    isOpen = false;
    void client.end({ timeout: 0 }).finally(() => socket.destroy());
  };

  const start = async () => {
    const { 0: row, state } = await client.unsafe<[ServerState]>(isPooler ? readState : setUp);
    // The response took some time, so the database's clock is at least this far ahead.
    const clockAhead = Number(row.now) - performance.now();
    if (isPooler) return { row, clockAhead };
    if (row.pid !== state.pid) throw isPoolerError();
    id = row.id;
    if (dropped.length > 0) await client.unsafe(terminate, [arrayText(dropped.splice(0))]);
    return { row, clockAhead };
  };
  const { row, clockAhead } = await withTimeout(start(), openTimeout).catch((error: unknown) => {
    drop();
    throw error;
  });

  async function run(text: string, values: Values, asArrays: boolean, isPrepared = true) {
    isUnconfirmed = false;
    const query = client.unsafe(text, [...values], { prepare: isPrepared && !isPooler });
    const rows = await (asArrays ? query.values() : query);
    if (isUnconfirmed) throw unconfirmedCommit();
    return { rows: withoutHoles(rows), count: rows.count };
  }

  return {
    id,
    openedAt,
    isReadOnly: row.read_only,
    hasCitus: row.has_citus,
    get isOpen() {
      return isOpen;
    },
    timeOf: (deadline) => timeText(deadline + clockAhead),
    query: async (text, values, options) =>
      (await run(text, values, true, options?.isPrepared)) as Rows,
    // The cast gives the rows the columns that the caller's text selects.
    queryObjects: async (text, values = []) => (await run(text, values, false)).rows as never,
    drop,
  };
}

interface ServerState {
  read_only: boolean;
  has_citus: boolean;
  pid: number;
  id: string;
  /** Milliseconds since 1970, by the server's clock. */
  now: string;
}

const readState = `
  select current_setting('transaction_read_only') = 'on' as read_only, pg_backend_pid() as pid,
    (select pid || ' ' || backend_start from pg_stat_activity where pid = pg_backend_pid()) as id,
    current_setting('citus.version', true) is not null as has_citus,
    (extract(epoch from clock_timestamp()) * 1000)::text as now`;

/**
 * Also changes the two settings that depend on the server. `synchronous_commit` becomes `on`, and
 * `remote_apply`, which waits longer, stays. A server on Linux ends a statement whose client has disconnected.
 */
const setUp = `${readState},
    set_config('synchronous_commit', case current_setting('synchronous_commit')
      when 'remote_apply' then 'remote_apply' else 'on' end, false),
    case when version() ~ 'linux'
      then set_config('client_connection_check_interval', '2s', false) end`;

/** Ends sessions that this process has dropped. A firewall may have hidden the end of their connections. */
const terminate = `
  select pg_terminate_backend(pid) from pg_stat_activity
  where pid || ' ' || backend_start = any($1::text[])`;

/** Formats the ids of sessions as an array of Postgres. */
export function arrayText(ids: readonly string[]): string {
  return `{${ids.map((id) => `"${id}"`)}}`;
}

/**
 * The settings that the store's statements rely on. A role, a database or a URL may have other values.
 *
 * When `row_security` is off, a policy causes an error instead of hiding rows. When `array_nulls` is off, a
 * missing tag would become the tag "NULL". Without warnings, a commit that the standby lacks would look like
 * any commit. In a stricter isolation level, concurrent writes of one id would fail. With the settings for
 * TCP, the server ends the session of a silent client.
 */
const neededSettings = {
  row_security: 'off',
  array_nulls: 'on',
  extra_float_digits: '1',
  client_min_messages: 'warning',
  default_transaction_isolation: 'read committed',
  ...{ tcp_keepalives_idle: 10, tcp_keepalives_interval: 5, tcp_keepalives_count: 3 },
  tcp_user_timeout: 25_000,
};

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
