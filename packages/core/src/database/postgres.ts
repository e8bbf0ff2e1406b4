import type { Database, Kind, OpenOptions, OwnSession } from './database.ts';
import { type Host, parseDatabaseUrl } from './database-url.ts';
import { defaultTimeout, withTimeout } from './deadline.ts';
import { databaseSettingsError, databaseUnavailable, orUnavailable } from './errors.ts';
import { migrate } from './migration.ts';
import { createVerbs, Pool, type Statement } from './pool.ts';
import {
  openSession,
  type PostgresSession,
  type SessionId,
  type SessionLimits,
} from './session.ts';

const connections: Readonly<Record<Kind, number>> = {
  ...{ creates: 2, deletes: 2, reads: 4 },
  ...{ counts: 1, searches: 1, changes: 1 },
};

/** The database ends a statement before its caller's time is over, so that the session stays usable. */
const requestLimits = {
  statementTimeout: 0.9 * defaultTimeout,
  lockTimeout: 0.8 * defaultTimeout,
} as const;

const bulkLimits = { ...requestLimits, statementTimeout: 60_000 };

/** A migration may build an index on a large table. */
const toolLimits = {
  statementTimeout: 3_600_000,
  lockTimeout: 60_000,
  name: 'plant-store tool',
} as const;

/**
 * Opens a Postgres by its URL, and migrates its tables. While the Postgres is down, every statement fails.
 *
 * @param options with `readOnly`, the store does not migrate the tables, and the Postgres may be a read
 *   replica.
 * @throws DatabaseSettingsError when somebody must first change the settings or the URL of the Postgres.
 * @throws PlantStoreError `databaseUnavailable` when the Postgres is down and `requireConnection` is true.
 */
export async function openPostgres(
  url: string,
  { readOnly = false, requireConnection = false }: OpenOptions = {},
): Promise<Database> {
  const open = createOpener(url, !readOnly);
  const name = readOnly ? 'plant-store tool' : 'plant-store';
  const prepare = once(async () => {
    const session = await open(readOnly ? { ...requestLimits, name } : toolLimits);
    await (readOnly ? Promise.resolve() : migrate(session.queryObjects)).finally(session.drop);
  });
  await prepare().catch((error: unknown) => {
    const settingsError = databaseSettingsError(error);
    if (settingsError) throw settingsError;
    if (requireConnection) throw databaseUnavailable(error);
  });

  const observer = createObserver(() => open({ ...requestLimits, name }));
  const pool = new Pool({
    connections,
    async open(kind) {
      await prepare();
      return open({ ...(connections[kind] === 1 ? bulkLimits : requestLimits), name });
    },
    working: observer.working,
  });
  return {
    ...createVerbs(pool),
    connections,
    pools: () => pool.state(),
    async close() {
      await pool.close();
      observer.close();
    },
  };
}

/**
 * Calls `use` with one session of a Postgres, which may be read-only and is not migrated.
 *
 * @throws DatabaseSettingsError when the URL cannot be parsed.
 * @throws PlantStoreError `databaseUnavailable` when no host is reachable, or when a statement fails.
 */
export async function usePostgres<T>(
  url: string,
  use: (session: OwnSession) => Promise<T>,
): Promise<T> {
  const session = await orUnavailable(createOpener(url, false)(toolLimits));
  return orUnavailable(use(ownSessionOf(session))).finally(session.drop);
}

/**
 * Makes a function that opens a session on the first host of the URL that can be used. The host that was
 * usable last comes first, and a host that did not respond comes last.
 */
function createOpener(url: string, needsPrimary: boolean) {
  const address = parseDatabaseUrl(url);
  const dropped = new Map<Host, SessionId[]>(address.hosts.map((host) => [host, []]));
  let order = address.hosts;
  const others = (host: Host) => order.filter((each) => each !== host);

  return async (limits: SessionLimits): Promise<PostgresSession> => {
    let lastError: unknown;
    for (const host of order) {
      try {
        const session = await openSession(host, address, limits, dropped.get(host) ?? []);
        const isOnly = order.length === 1 && !session.isReplica;
        if (!needsPrimary || !session.isReadOnly || isOnly) {
          order = [host, ...others(host)];
          return session;
        }
        session.drop();
        lastError = readOnlyError(host);
      } catch (error) {
        lastError = error;
        order = [...others(host), host];
      }
    }
    throw lastError;
  };
}

function readOnlyError({ host, port }: Host): Error {
  return Object.assign(new Error(`${host}:${port} is read-only`), { code: '25006' });
}

/** Behind a pooler, an overdue statement keeps its connection for this long, in milliseconds. */
const poolerPatience = 30_000;

/** The observer's session is used again only for this long, because a firewall may forget it. */
const observerAge = 5_000;

/** Asks the server about overdue statements, on a session of its own. */
function createObserver(open: () => Promise<PostgresSession>) {
  let session: PostgresSession | undefined;
  let usedAt = 0;
  return {
    /**
     * Returns the statements on which the server works. A server that does not respond works on none. A
     * session that waits for its client to read does not work, either.
     */
    async working(overdue: readonly Statement[]): Promise<readonly Statement[]> {
      const ids = overdue.flatMap((each) => (each.session as PostgresSession).id ?? []);
      const now = performance.now();
      // Only the pooler knows which session runs a statement.
      if (ids.length < overdue.length) {
        return overdue.filter(({ deadline }) => now - deadline < poolerPatience);
      }
      try {
        if (now - usedAt > observerAge) session?.drop();
        usedAt = now;
        if (!session?.isOpen) session = await open();
        const values = [`{${ids.map(({ pid }) => pid)}}`];
        const { rows } = await withTimeout(session.query(selectActive, values), 1_000);
        const active = new Set(rows.map(([id]) => id));
        return overdue.filter((_, i) => active.has(`${ids[i]?.pid} ${ids[i]?.startedAt}`));
      } catch (error) {
        session?.drop();
        // A server that rejects the observer still responds, for example when it has no free connection.
        return error instanceof Error && 'severity' in error ? overdue : [];
      }
    },
    close: () => session?.drop(),
  };
}

const selectActive = `
  select pid || ' ' || backend_start from pg_stat_activity
  where pid = any($1::int[]) and state = 'active' and wait_event is distinct from 'ClientWrite'`;

/** Calls a function until it succeeds once. Concurrent calls share one attempt. */
function once(attempt: () => Promise<void>): () => Promise<void> {
  let last: Promise<void> | undefined;
  return () =>
    (last ??= attempt().catch((error) => {
      last = undefined;
      throw error;
    }));
}

const ownSessionOf = ({ queryObjects: query, isReadOnly }: PostgresSession): OwnSession => ({
  query,
  isReadOnly,
});
