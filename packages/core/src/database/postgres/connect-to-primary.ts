import { setTimeout } from 'node:timers/promises';
import { databaseUrlError } from '../database-settings-error.ts';
import { queryTimeout } from '../timeout.ts';
import { type Connection, connectPostgres } from './connection.ts';
import { postgresOverTls } from './tls.ts';

/** Milliseconds for all attempts of one call. */
const connectTimeout = 5_000;

/** Milliseconds after which the next attempt starts while the earlier ones are still unanswered. */
const nextAttemptDelay = 1_000;

/**
 * Makes a function that connects to the primary among the hosts of a URL
 * (`postgres://…@first,second/…`). The function tries the last primary first, then the other hosts in
 * turn, again and again.
 *
 * An attempt continues while its host is silent, because the host may be slow. The host still gets a
 * new attempt at its next turn, because packets of the first one may be lost.
 *
 * @param timeout milliseconds after which the caller cancels a statement
 * @param acceptsReadOnly whether a server that is no primary will do, too
 */
export function createConnectToPrimary(
  url: string,
  timeout = queryTimeout,
  acceptsReadOnly = false,
): () => Promise<Connection> {
  let hosts = hostsOf(url);
  // The database cancels a statement a little earlier, so that the connection stays usable.
  let limits: { statementTimeout?: number; lockTimeout?: number } =
    timeout < Number.POSITIVE_INFINITY
      ? { statementTimeout: 0.9 * timeout }
      : { lockTimeout: 0.9 * queryTimeout };

  return async () => {
    const until = performance.now() + connectTimeout;
    const pending = new Map<number, Promise<Attempt>>();
    let lastError: unknown = new Error(`no answer within ${connectTimeout} ms`);
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

  /** The promise is never rejected. */
  async function attempt(turn: number, host: Host, until: number): Promise<Attempt> {
    const sent = limits;
    try {
      const remaining = until - performance.now();
      const connection = await connectPostgres({
        ...{ url, ...host, timeout: remaining, acceptsReadOnly },
        ...sent,
      });
      return { turn, host, connection };
    } catch (error) {
      // PgBouncer rejects these limits. Without them only the caller's timeout applies.
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

interface Host {
  host: string;
  port: number;
}

/** The hosts of a URL. postgres.js parses them, but truncates IPv6 addresses, which are parsed here. */
function hostsOf(url: string): Host[] {
  try {
    const { host, port } = postgresOverTls(url).options;
    const ipv6 = url.matchAll(/\[([\da-f:.]+)\](?::(\d+))?/gi);
    return host.map((name, i) => {
      if (name !== '[') return { host: name, port: port[i] ?? 5432 };
      const [, address = name, ipv6Port = 5432] = ipv6.next().value ?? [];
      return { host: address, port: Number(ipv6Port) };
    });
  } catch (error) {
    throw databaseUrlError(error);
  }
}
