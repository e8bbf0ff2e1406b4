import { setTimeout } from 'node:timers/promises';
import { parseDatabaseUrl } from '../database/database-url.ts';
import { defaultTimeout } from '../database/deadline.ts';
import { databaseUrlError } from '../database/explain-database-error.ts';
import { type Connection, type ConnectionOptions, connectPostgres } from './connection.ts';
import { LeftBehind } from './left-behind.ts';
import { postgresOverTls } from './tls.ts';

/** The time limit for all attempts of one call, in milliseconds. */
const defaultConnectTimeout = 5_000;

/**
 * The time limit for waiting for a lock, in milliseconds. This limit is lower than the time limit for a
 * statement, so a statement that waits for a lock ends with an error about the lock.
 */
const defaultLockTimeout = 0.8 * defaultTimeout;

/** After this many milliseconds, the next attempt starts, even if earlier attempts have not ended. */
const nextAttemptDelay = 1_000;

export interface ConnectOptions
  extends Pick<ConnectionOptions, 'lockTimeout' | 'readOnly' | 'applicationName'> {
  /** Milliseconds after which the caller cancels a statement. */
  readonly timeout?: number;
  /** The time limit for all attempts of one call, in milliseconds. */
  readonly connectTimeout?: number;
  /** The hosts to try. Default: all hosts of the URL. */
  readonly hosts?: readonly Host[];
}

/**
 * Makes a function that connects to the primary among the hosts of a URL (`postgres://…@first,second/…`). The
 * function first tries the previous primary, and then the other hosts in turn.
 *
 * An attempt continues when its host is silent, because the host may be slow. After the other hosts, the
 * function tries the silent host a second time, because packets of the first attempt may be lost.
 */
export function createConnectToPrimary(
  url: string,
  {
    timeout = defaultTimeout,
    lockTimeout = defaultLockTimeout,
    readOnly = false,
    connectTimeout = defaultConnectTimeout,
    hosts: given,
    applicationName,
  }: ConnectOptions = {},
): () => Promise<Connection> {
  const leftBehind = new LeftBehind();
  let hosts = given ?? hostsOf(url);
  // The database cancels a statement shortly before the caller does, so that the connection stays usable.
  let limits: { statementTimeout?: number; lockTimeout?: number } = {
    statementTimeout: 0.9 * timeout,
    lockTimeout,
  };

  return async () => {
    const until = performance.now() + connectTimeout;
    const pending = new Map<number, Promise<Attempt>>();
    let lastError: unknown = new Error(`no response within ${connectTimeout} ms`);
    let candidates = hosts;

    for (let turn = 0; performance.now() < until; turn++) {
      const [next, ...rest] = candidates;
      if (!next) break;
      candidates = [...rest, next];
      pending.set(turn, attempt(turn, next, until));
      const silence = setTimeout(nextAttemptDelay, undefined, { ref: false });
      const settled = await Promise.race([...pending.values(), silence]);
      if (!settled) continue;

      const { host, connection, error } = settled;
      pending.delete(settled.turn);
      if (connection) {
        hosts = [host, ...hosts.filter((other) => other !== host)];
        closeLateConnections(pending.values());
        return connection;
      }
      lastError = error;
      candidates = candidates.filter((other) => other !== host);
    }
    closeLateConnections(pending.values());
    throw lastError;
  };

  /** The promise of an attempt is never rejected. */
  async function attempt(turn: number, host: Host, until: number): Promise<Attempt> {
    const sent = limits;
    try {
      const remaining = until - performance.now();
      const connection = await connectPostgres({
        url,
        ...host,
        timeout: remaining,
        readOnly,
        isOnlyHost: hosts.length === 1,
        leftBehind,
        applicationName,
        ...sent,
      });
      return { turn, host, connection };
    } catch (error) {
      // PgBouncer rejects the parameters for time limits. After this rejection, only the caller's timeout
      // applies.
      const isRejected = error instanceof Error && /startup parameter/.test(error.message);
      if (!isRejected || Object.keys(sent).length === 0) return { turn, host, error };
      limits = {};
      return attempt(turn, host, until);
    }
  }
}

interface Attempt {
  turn: number;
  host: Host;
  connection?: Connection;
  error?: unknown;
}

function closeLateConnections(attempts: Iterable<Promise<Attempt>>): void {
  for (const attempt of attempts) void attempt.then(({ connection }) => connection?.close());
}

export interface Host {
  readonly host: string;
  readonly port: number;
}

/**
 * Returns the hosts in a URL. The driver's defaults replace missing parts of the URL.
 *
 * @throws DatabaseSettingsError when the URL cannot be parsed
 */
export function hostsOf(url: string): Host[] {
  try {
    const { host: names, port: ports } = postgresOverTls(url).options;
    const [defaultHost = 'localhost'] = names;
    const [defaultPort = 5432] = ports;
    const { hosts } = parseDatabaseUrl(url);
    const [first] = hosts;
    return hosts.map(({ host, port }) => ({
      host: host ?? (first?.host === undefined ? defaultHost : 'localhost'),
      port: port ?? (first?.port === undefined ? defaultPort : 5432),
    }));
  } catch (error) {
    throw databaseUrlError(error);
  }
}
