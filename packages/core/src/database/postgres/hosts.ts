import { setTimeout } from 'node:timers/promises';
import { DatabaseSettingsError } from '../database-settings-error.ts';
import { deadline } from '../timeout.ts';
import { type Connection, connectPostgres } from './connection.ts';
import { postgresOverTls } from './tls.ts';

/** Milliseconds of silence after which the next attempt begins, beside those that are silent. */
const patience = 1_000;

/**
 * Makes a function that connects to the one of the hosts in a URL (`postgres://…@first,second/…`)
 * that takes writes: the last that did, then the others in turn.
 *
 * A host that is silent may be slow, so it is waited for; or it is away, and what was sent to it is
 * lost, so it is asked again meanwhile, lest its return goes unnoticed.
 *
 * @param answerWithin milliseconds after which its statements are given up
 */
export function connector(url: string, answerWithin = deadline): () => Promise<Connection> {
  let hosts = hostsOf(url);
  // The database gives up a little before we do, so that the connection can be kept.
  let limits: { statementTimeout?: number } = { statementTimeout: 0.9 * answerWithin };

  return async () => {
    const until = performance.now() + deadline;
    const pending = new Map<number, Promise<Attempt>>();
    let failure: unknown = new Error(`no answer within ${deadline} ms`);
    let candidates = hosts;

    for (let turn = 0; performance.now() < until; turn++) {
      const [next, ...rest] = candidates;
      if (!next) break;
      candidates = [...rest, next];
      pending.set(turn, attempt(turn, next, until));
      const silence = setTimeout(patience, undefined, { ref: false });
      const settled = await Promise.race([...pending.values(), silence]);
      if (!settled) continue;

      const { host, connection, error } = settled;
      pending.delete(settled.turn);
      if (connection) {
        hosts = [host, ...hosts.filter((other) => other !== host)];
        abandon(pending.values());
        return connection;
      }
      failure = error;
      candidates = candidates.filter((other) => other !== host);
    }
    abandon(pending.values());
    throw failure;
  };

  /** Never rejects. */
  async function attempt(turn: number, host: Host, until: number): Promise<Attempt> {
    const sent = limits;
    try {
      const within = until - performance.now();
      const connection = await connectPostgres({ url, ...host, within, ...sent });
      return { turn, host, connection };
    } catch (error) {
      // PgBouncer knows no such limits. Without them the deadline of our own remains.
      const isRefused = error instanceof Error && /startup parameter/.test(error.message);
      if (!isRefused || !sent.statementTimeout) return { turn, host, error };
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

/** Closes what they connect to after all. */
function abandon(attempts: Iterable<Promise<Attempt>>): void {
  for (const attempt of attempts) void attempt.then(({ connection }) => connection?.close());
}

interface Host {
  host: string;
  port: number;
}

/** The hosts of a URL as postgres.js reads them, which takes several, but cuts IPv6 addresses short. */
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
    const why = error instanceof Error ? error.message : error;
    throw new DatabaseSettingsError(
      `the database cannot be used (${why}): check its URL, postgres://user:password@host:port/database`,
      { cause: error },
    );
  }
}
