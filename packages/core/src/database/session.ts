import { once } from 'node:events';
import { Socket } from 'node:net';
import postgres from 'postgres';
import type { Query, Rows, Values } from './database.ts';
import type { DatabaseAddress } from './database-url.ts';
import { type Deadline, deadlineIn, withDeadline } from './deadline.ts';
import { unconfirmedCommit } from './errors.ts';

export type PostgresSession = Awaited<ReturnType<typeof openSession>>;

/** The time limits of a statement and of a wait for a lock, in milliseconds. */
export type SessionLimits = Record<'statement_timeout' | 'lock_timeout', number>;

/** The time limit for opening a session, in milliseconds. */
const openTimeout = 2_000;

/**
 * Opens a session within 2 s, or throws.
 *
 * postgres.js has no time limit for a statement, and reconnects without a pause if the server closes a new
 * connection (porsager/postgres #896, #1154, #1168). So each client of postgres.js has one connection, over a
 * socket that this function makes. The client cannot reconnect, and `drop` can destroy the socket.
 *
 * @param dropped the ids of the sessions that this process has dropped, and that may still exist on the server
 */
export async function openSession(
  { host, port, isPooler, settings, ...credentials }: DatabaseAddress,
  limits: SessionLimits,
  dropped: string[],
) {
  const openedAt = performance.now();
  // For TLS, postgres.js reads the property `host` of the socket.
  const socket = Object.assign(new Socket(), { host }).setNoDelay();
  const name = { application_name: `plant-store process ${process.pid}` };
  const pooledSettings = { ...settings, ...name, TimeZone: 'UTC', DateStyle: 'ISO' };
  let [isOpen, isStarted, isReady, isUnconfirmed] = [true, false, false, false];
  const options = {
    ...credentials,
    ...{ max: 1, fetch_types: false, prepare: !isPooler },
    // postgres.js documents the option `socket`, but its types lack this option.
    async socket() {
      if (isStarted) throw new Error('the database closed the connection');
      isStarted = true;
      socket.connect(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port });
      await once(socket, 'connect');
      return socket;
    },
    onclose() {
      isOpen = false;
    },
    onnotice({ code, where }: postgres.Notice) {
      // 01000 warns that no standby confirmed a commit. A warning of a trigger has a context (`where`).
      // 08006 warns that a node of Citus received no commit. CIINF warns that Citus has lost a part of a page.
      // A warning while the session opens, for example about a collation version, concerns no commit.
      isUnconfirmed ||= isReady && ['01000', '08006', 'CIINF'].includes(code ?? '') && !where;
    },
    // PgBouncer accepts few settings. The operator sets others on the role: see `docs/configuration.md`.
    connection: isPooler ? pooledSettings : { ...pooledSettings, ...neededSettings, ...limits },
  };
  const client = postgres(options);
  let id: string | undefined;

  function drop(): void {
    if (isOpen && id) dropped.push(id);
    isOpen = false;
    void client.end({ timeout: 0 }).finally(() => socket.destroy());
  }

  async function run(text: string, values: Values, { asObjects = false, isPrepared = true } = {}) {
    isUnconfirmed = false;
    const query = client.unsafe(text, [...values], { prepare: isPrepared && !isPooler });
    const rows: unknown[] = await (asObjects ? query : query.values());
    if (isUnconfirmed) throw unconfirmedCommit();
    // V8 frees a result of postgres.js only in a full garbage collection, so `splice` empties the result. After an
    // error between two rows, postgres.js 3.4 starts the next result with holes, which `filter` removes.
    return rows.splice(0).filter(() => true);
  }

  const ended = isPooler ? [] : dropped.splice(0);
  const [text, values] = isPooler ? [readState, []] : [readState + setUp, [ended.join()]];
  const opening = run(text, values, { asObjects: true });
  const rows = await withDeadline(opening, deadlineIn(openTimeout)).catch((error: unknown) => {
    dropped.push(...ended);
    drop();
    throw error;
  });
  const [state] = rows as [ServerState]; // The statement selects these columns.
  isReady = true;
  id = isPooler ? undefined : state.id;
  // The response took some time, so the database's clock is at least this far ahead.
  const clockOffset = Number(state.now) - performance.now();

  return {
    /** The process id and the start of this session. A later session may have the same process id. */
    id,
    openedAt,
    isReadOnly: state.read_only,
    hasCitus: state.has_citus,
    get isOpen() {
      return isOpen;
    },
    timeOf: (deadline: Deadline) => new Date(deadline + clockOffset).toISOString(),
    async query(text: string, values: Values, options?: { isPrepared: boolean }): Promise<Rows> {
      return { rows: (await run(text, values, options)) as unknown[][] };
    },
    // The cast gives the rows the types of the columns that the caller's text selects.
    queryObjects: (async (text, values = []) => run(text, values, { asObjects: true })) as Query,
    drop,
  };
}

interface ServerState {
  read_only: boolean;
  has_citus: boolean;
  id: string;
  /** Milliseconds since 1970, by the server's clock. */
  now: string;
}

const readState = `
  select current_setting('transaction_read_only') = 'on' as read_only,
    current_setting('citus.version', true) is not null as has_citus,
    (select pid || ' ' || backend_start from pg_stat_activity where pid = pg_backend_pid()) as id,
    (extract(epoch from clock_timestamp()) * 1000)::text as now`;

/**
 * Follows `readState` in the statement, unless the host is a pooler. Sets `synchronous_commit` to `on`, but keeps
 * `remote_apply`, which waits longer. Lets a server on Linux end a statement whose client has disconnected. Ends
 * dropped sessions, because a firewall may have hidden the end of their connections. $1 the dropped sessions' ids
 */
const setUp = `,
    set_config('synchronous_commit', case current_setting('synchronous_commit')
      when 'remote_apply' then 'remote_apply' else 'on' end, false),
    case when version() ~ 'linux'
      then set_config('client_connection_check_interval', '2s', false) end,
    (select count(pg_terminate_backend(pid)) from pg_stat_activity
      where pid || ' ' || backend_start = any(string_to_array($1, ',')))`;

/**
 * The settings that the store's statements rely on. A role, a database or a URL may have other values.
 *
 * When `row_security` is off, a policy causes an error instead of hiding rows. When `array_nulls` is off, a
 * missing tag would become the tag "NULL". Without warnings, a commit that the standby lacks would look like
 * any other commit. In a stricter isolation level, concurrent writes of one id would fail. With the TCP
 * settings, the server ends the session of a silent client.
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
