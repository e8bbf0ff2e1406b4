import { once } from 'node:events';
import { Socket } from 'node:net';
import type { DatabaseConnection } from '../database/database.ts';
import { unconfirmedCommit } from '../database/database-error.ts';
import { timeText, withTimeout } from '../database/deadline.ts';
import { cancelStatement, type Session } from './cancel-request.ts';
import type { LeftBehind } from './left-behind.ts';
import { isStatementLost, poolerKeepsStatements } from './prepared-statements.ts';
import {
  commitDurably,
  noTlsError,
  readOnlyError,
  type ServerState,
  serverState,
  sessionCommits,
  setSession,
  timeFormats,
} from './server-state.ts';
import { postgresOverTls } from './tls.ts';

/**
 * A connection to a Postgres, for one session. When the session has ended, the connection never opens another
 * session.
 */
export interface Connection extends DatabaseConnection {
  /** Whether the Postgres accepts no writes in this session. */
  readonly isReadOnly: boolean;
  /** Whether statements are prepared. False behind a pooler that does not keep prepared statements. */
  readonly prepares: boolean;
}

/**
 * The name of the program that opened a session. An instance of the store has the name `plant-store`. A
 * session that only reads or migrates has the name `plant-store tool`. The full name also contains the
 * process id, so that an operator can distinguish instances on one machine.
 */
export type ApplicationName = 'plant-store' | 'plant-store tool';

export interface ConnectionOptions {
  url: string;
  /** One of the hosts in the URL. */
  host: string;
  port: number;
  /** The time limit for making the connection ready, in milliseconds. */
  timeout: number;
  /** Milliseconds after which the database cancels a statement. Default: the database's own setting. */
  statementTimeout?: number;
  /** The maximum number of milliseconds for which a statement waits for a lock. Default: no limit. */
  lockTimeout?: number;
  /** Whether the connection only reads. A read-only connection may go to a read replica. */
  readOnly?: boolean;
  /** Whether `host` is the only host in the URL. The only host may be a primary that rejects writes. */
  isOnlyHost?: boolean;
  /**
   * The sessions of closed connections, which may still exist on the server. The next connection ends these
   * sessions.
   */
  leftBehind?: LeftBehind;
  /** The name that operators see in `pg_stat_activity`. */
  applicationName?: ApplicationName | undefined;
}

/**
 * Connects to a Postgres that accepts writes. If `readOnly` is true, connects to any Postgres.
 *
 * Each postgres.js client has only one connection, over a socket that this function creates and can destroy.
 * The library postgres.js has no timeout for queries. When postgres.js reconnects, the new connection may
 * hang because of bytes from the previous connection. When a connection closes during its start, postgres.js
 * reconnects again and again without a pause (porsager/postgres #896, #1154, #1168).
 */
export async function connectPostgres(options: ConnectionOptions): Promise<Connection> {
  const {
    url,
    host,
    port,
    timeout,
    statementTimeout,
    lockTimeout,
    readOnly = false,
    isOnlyHost = false,
    leftBehind,
    applicationName = 'plant-store tool',
  } = options;
  // For TLS, postgres.js reads the property `host` of the socket.
  const socket = Object.assign(new Socket(), { host });
  let isOpen = true;
  let isStarted = false;
  let hasWarned = false;
  let rejectsTls = false;
  let running: Promise<unknown> | undefined;

  const address = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };

  const client = postgresOverTls(url, {
    host,
    port,
    max: 1,
    fetch_types: false,
    ...noTimers,
    ...socketOption(async () => {
      if (isStarted) throw new Error('the database closed the connection');
      isStarted = true;
      socket.connect(address);
      await once(socket, 'connect');
      socket.once('data', (response: Buffer) => {
        rejectsTls = response.toString() === 'N';
      });
      return socket;
    }),
    onclose: () => {
      isOpen = false;
    },
    onnotice: ({ code, where }) => {
      // Only a warning without a context (`where`) is the server's own warning about a commit. A warning from
      // a trigger has a context.
      hasWarned ||= code === '01000' && !where;
    },
    connection: {
      application_name: `${applicationName} process ${process.pid}`,
      // A pooler forwards these settings. In a direct session, `set` sets them again after those of the URL.
      ...timeFormats,
      ...(statementTimeout && { statement_timeout: Math.min(statementTimeout, longestTimeout) }),
      ...(Number.isFinite(statementTimeout) && keepAlive),
      ...(lockTimeout && { lock_timeout: lockTimeout }),
    },
  });

  let session: Session | undefined;
  let startedAt: string | undefined;

  const cancel = async () => {
    // A server that waits for a lock or the standby does not notice a closed connection.
    if (running && session) await cancelStatement(address, session, cancelTimeout);
  };

  const close = async () => {
    isOpen = false;
    if (session && startedAt) leftBehind?.add({ host, port, pid: session.pid, startedAt });
    if (running && session) {
      await cancel();
      await withTimeout(running, cancelTimeout).catch(() => {});
    }
    await client.end({ timeout: 0 });
    socket.destroy();
  };

  const start = async () => {
    const { 0: server, state } = await client.unsafe<[ServerState]>(serverState);
    const clockAhead = Number(server.now) - performance.now();
    const isUsable = !server.read_only || readOnly || (isOnlyHost && !server.is_replica);
    if (!isUsable) throw readOnlyError(`${host}:${port}`);
    session = state;
    const isDirect = server.pid === state.pid;
    // A pooler shares its sessions among clients, so the store does not change the settings of these
    // sessions.
    if (isDirect && !readOnly) await client.unsafe(commitDurably);
    if (isDirect) {
      await client.unsafe(setSession);
      startedAt = server.started_at;
      await leftBehind?.end({ host, port }, client);
    }
    const prepares = isDirect || (await poolerKeepsStatements(client));
    return { prepares, isReadOnly: server.read_only, clockAhead };
  };

  let { prepares, isReadOnly, clockAhead } = await withTimeout(start(), timeout).catch(
    async (error: unknown) => {
      await close();
      // If the server does not offer TLS, the error of the handshake gives no reason.
      throw rejectsTls && client.options.ssl !== 'prefer' ? noTlsError(`${host}:${port}`) : error;
    },
  );

  return {
    isReadOnly,
    prepares,
    address: 'path' in address ? undefined : { host, port },
    get isOpen() {
      return isOpen;
    },
    timeOf: (deadline) => timeText(deadline + clockAhead),
    cancel,
    async isCommitting(other) {
      // Behind a pooler, only the pooler knows which session runs the statement.
      if (!session || !startedAt) return undefined;
      const { rows } = await other.query(sessionCommits, [String(session.pid), startedAt]);
      return rows.length > 0;
    },
    async query(text, parameters = [], rowsAs = 'arrays') {
      hasWarned = false;
      const run = () => {
        // A pooler may run the next statement in another session, in which the statement is not prepared.
        const query = client.unsafe(text, [...parameters], { prepare: prepares });
        return track(rowsAs === 'arrays' ? query.values() : query);
      };
      const rows = await run().catch((error: unknown) => {
        if (!isStatementLost(error)) throw error;
        // The pooler has lost a prepared statement, so the connection prepares no more statements.
        prepares = false;
        return run();
      });
      throwIfWarned();
      return { rows: withoutHoles(rows), count: rows.count };
    },
    close,
  };

  /** Stores the running statement in `running`. */
  async function track<T>(statement: PromiseLike<T>): Promise<T> {
    const current = Promise.resolve(statement);
    running = current;
    try {
      return await current;
    } finally {
      running = undefined;
    }
  }

  /**
   * Throws if the server has warned that the synchronous standby has not confirmed a commit. The rows are on
   * the primary, but a failover may lose these rows.
   */
  function throwIfWarned(): void {
    if (hasWarned) throw unconfirmedCommit();
  }
}

/**
 * The maximum number of milliseconds for a cancel request. After the cancel request, `close` again waits at
 * most this time until the cancelled statement has ended.
 */
const cancelTimeout = 1_000;

/**
 * The longest timeout that Postgres accepts. For Postgres, 0 means no limit, but the driver cannot send 0.
 * The store sends the longest timeout instead of 0.
 */
const longestTimeout = 2 ** 31 - 1;

/**
 * These settings make the server end the session of a silent client, because a firewall may forget a
 * connection without closing the connection. `tcp_user_timeout` is in milliseconds, and the other times are
 * in seconds.
 */
const keepAlive = {
  tcp_keepalives_idle: 10,
  tcp_keepalives_interval: 5,
  tcp_keepalives_count: 3,
  tcp_user_timeout: 25_000,
};

/**
 * Removes the holes from the beginning of an array of rows. If an error ends a statement after some rows,
 * postgres.js 3.4 leaves such holes in the next array on the connection (`rows` in postgres.js's
 * connection.js).
 */
function withoutHoles(rows: unknown[]): unknown[] {
  return rows.length > 0 && !(0 in rows) ? rows.filter(() => true) : rows;
}

const noTimers = { connect_timeout: 0, idle_timeout: 0, max_lifetime: 0 };

/** postgres.js documents the option `socket`, but the types of postgres.js lack this option. */
function socketOption(socket: () => Promise<Socket>): object {
  return { socket };
}
