import { setTimeout } from 'node:timers/promises';
import { databaseUrlError } from '../database-settings-error.ts';
import { queryTimeout } from '../timeout.ts';
import { type Connection, connectPostgres } from './connection.ts';
import { postgresOverTls } from './tls.ts';

/** Milliseconds for all attempts of one call to connect. */
const connectTimeout = 5_000;

/** Milliseconds after which the next host is tried as well, while the first is silent. */
const nextAttemptDelay = 1_000;

/**
 * Makes a function that connects to the primary among the hosts of a URL
 * (`postgres://…@first,second/…`). It tries the last primary first, then the others in turn.
 *
 * A silent host may be slow, so its attempt goes on; or its packets are lost, so the host gets
 * another attempt every few seconds and its return is noticed.
 *
 * @param timeout milliseconds after which the caller gives up on a statement
 */
export function createConnector(url: string, timeout = queryTimeout): () => Promise<Connection> {
  let hosts = hostsOf(url);
  // The database cancels a statement a little earlier, so that the connection stays usable.
  let limits: { statementTimeout?: number } = { statementTimeout: 0.9 * timeout };

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

  /** Never rejects. */
  async function attempt(turn: number, host: Host, until: number): Promise<Attempt> {
    const sent = limits;
    try {
      const remaining = until - performance.now();
      const connection = await connectPostgres({ url, ...host, timeout: remaining, ...sent });
      return { turn, host, connection };
    } catch (error) {
      // PgBouncer rejects these limits; without them only our own timeout applies.
      const isRejected = error instanceof Error && /startup parameter/.test(error.message);
      if (!isRejected || !sent.statementTimeout) return { turn, host, error };
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

/** The hosts of a URL as postgres.js reads them; it truncates IPv6 addresses, which are read here. */
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
