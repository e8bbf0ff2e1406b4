import { once } from 'node:events';
import { Socket } from 'node:net';
import type postgres from 'postgres';
import { inTime } from '../timeout.ts';
import { copyFromStdin } from './copy.ts';
import { postgresOverTls } from './tls.ts';

/** One connection to a Postgres. When it is lost, it is lost: it never connects again. */
export interface Connection {
  /** Whether the database still holds its end, as far as is known. */
  readonly isOpen: boolean;
  /** Runs a statement, each on its own: no other may be under way. */
  query(text: string, parameters?: Values, rowsAs?: 'arrays' | 'objects'): Promise<QueryResult>;
  /** Sends rows to a `COPY … FROM STDIN`; settles when they are committed, or none is. */
  copy(text: string, rows: string): Promise<void>;
  /** Lets go of it at once, whatever the other end does; a statement under way is rejected. */
  close(): Promise<void>;
}

export interface QueryResult {
  rows: unknown[];
  /** How many rows there were, or were changed. */
  count: number;
}

type Values = NonNullable<Parameters<postgres.Sql['unsafe']>[1]>;

export interface ConnectionOptions {
  url: string;
  /** Where to connect, out of the places that the URL names. */
  host: string;
  port: number;
  /** Milliseconds in which the connection must be there. */
  within: number;
  /** Milliseconds after which the database itself gives up on a statement; never when left out. */
  statementTimeout?: number;
}

/**
 * Connects to a Postgres that takes writes.
 *
 * postgres.js speaks the protocol here and nothing else: its queries have no time-out, a connection
 * that it opens again may hang on bytes of the one before, and one that is closed during its start
 * is opened again at once, for ever (porsager/postgres #896, #1154, #1168). So each client has one
 * connection, over one socket of ours that can be destroyed.
 */
export async function connectPostgres(options: ConnectionOptions): Promise<Connection> {
  const { url, host, port, within, statementTimeout } = options;
  const socket = Object.assign(new Socket(), { host }); // Where postgres.js looks for TLS's server name.
  // Else the end of a COPY, which is sent apart from its rows, waits up to 40 ms for their receipt.
  socket.setNoDelay();
  let isOpen = true;
  let isStarted = false;
  let hasWarned = false;

  const client = postgresOverTls(url, {
    host,
    port,
    max: 1,
    fetch_types: false,
    ...noTimers,
    ...socketOption(async () => {
      if (isStarted) throw new Error('the database closed the connection');
      isStarted = true;
      socket.connect(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port });
      await once(socket, 'connect');
      return socket;
    }),
    onclose: () => {
      isOpen = false;
    },
    onnotice: ({ code }) => {
      hasWarned ||= code === '01000';
    },
    connection: {
      application_name: 'plant-store',
      ...(statementTimeout && {
        statement_timeout: statementTimeout,
        lock_timeout: statementTimeout,
      }),
    },
  });

  const close = async () => {
    isOpen = false;
    await client.end({ timeout: 0 });
    socket.destroy();
  };

  const start = async () => {
    const { 0: server, state } = await client.unsafe<[State]>(stateOfServer);
    if (server.read_only) throw new Error(`${host}:${port} takes no writes: it is read-only`);
    const isDirect = server.pid === state.pid;
    // Else a plant that was acknowledged could be lost. A pooler's session is not ours to set.
    if (isDirect && server.forgetful) await client.unsafe('set synchronous_commit = on');
    return isDirect;
  };

  const isDirect = await inTime(start(), within).catch(async (error: unknown) => {
    await close();
    throw error;
  });

  return {
    get isOpen() {
      return isOpen;
    },
    async query(text, parameters = [], rowsAs = 'arrays') {
      hasWarned = false;
      // A pooler in between may give the next statement to another server, where none is prepared.
      const query = client.unsafe(text, parameters, { prepare: isDirect });
      const rows = await (rowsAs === 'arrays' ? query.values() : query);
      refuseWarning();
      return { rows, count: rows.count };
    },
    async copy(text, rows) {
      hasWarned = false;
      await copyFromStdin(client.unsafe(text), rows);
      refuseWarning();
    },
    close,
  };

  /**
   * It comes with a commit whose wait for the synchronous standby was cancelled: the rows are here,
   * but may be gone when that standby takes over.
   */
  function refuseWarning(): void {
    if (hasWarned) throw new Error('the database warned that the commit may be lost');
  }
}

interface State {
  read_only: boolean;
  /** Whether its commits do not wait for the disk. */
  forgetful: boolean;
  pid: number;
}

/** The server's process is another than the one we were told of where a pooler is in between. */
const stateOfServer = `
  select current_setting('transaction_read_only') = 'on' as read_only,
    current_setting('synchronous_commit') = 'off' as forgetful, pg_backend_pid() as pid`;

const noTimers = { connect_timeout: 0, idle_timeout: 0, max_lifetime: 0 };

/** postgres.js documents the option, but its types leave it out. */
function socketOption(socket: () => Promise<Socket>): object {
  return { socket };
}
