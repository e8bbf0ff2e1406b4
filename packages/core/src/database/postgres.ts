import type { createCluster } from '../citus/cluster.ts';
import type { Database, Kind, OpenOptions, Query } from './database.ts';
import { type Host, parseDatabaseUrl } from './database-url.ts';
import { defaultTimeout, withTimeout } from './deadline.ts';
import { databaseSettingsError, databaseUnavailable, orUnavailable } from './errors.ts';
import { migrate } from './migration.ts';
import { Pool, type Statement } from './pool.ts';
import { arrayText, openSession, type PostgresSession, type SessionLimits } from './session.ts';

const connections: Readonly<Record<Kind, number>> = {
  ...{ creates: 2, deletes: 2, reads: 4 },
  ...{ counts: 1, searches: 1, changes: 1 },
};

/** The database ends a statement before its caller's time is over, so that the session stays usable. */
const requestLimits = {
  statement_timeout: 0.9 * defaultTimeout,
  lock_timeout: 0.8 * defaultTimeout,
};

const bulkLimits = { ...requestLimits, statement_timeout: 60_000 };

/** A migration may build an index on a large table. */
const toolLimits = { statement_timeout: 3_600_000, lock_timeout: 60_000 };

/**
 * Milliseconds for a migration after the start, when the Postgres was down at the start. Meanwhile, no other
 * session opens, so a silent network must not delay the migration longer.
 */
const latestMigration = 30_000;

/**
 * Opens a Postgres by its URL, and migrates its tables. While the Postgres is down, every statement fails.
 *
 * @throws DatabaseSettingsError when somebody must first change the settings or the URL of the Postgres.
 * @throws PlantStoreError `databaseUnavailable` when the Postgres is down and `requireConnection` is true.
 */
export async function openPostgres(
  url: string,
  { requireConnection = false }: OpenOptions = {},
): Promise<Database> {
  const open = createOpener(url);
  let migrated: Promise<void> | undefined;
  const migrateOnce = (limit: number) => {
    const migrateInTime = (query: Query) => withTimeout(migrate(query), limit);
    migrated ??= withSession(open, migrateInTime).catch(forget);
    return migrated;
  };
  function forget(error: unknown): never {
    migrated = undefined;
    throw error;
  }
  await migrateOnce(toolLimits.statement_timeout).catch((error: unknown) => {
    const settingsError = databaseSettingsError(error);
    if (settingsError) throw settingsError;
    if (requireConnection) throw databaseUnavailable(error);
  });
  return new Pool({
    connections,
    async open(kind) {
      await migrateOnce(latestMigration);
      return open(connections[kind] === 1 ? bulkLimits : requestLimits);
    },
    working: (overdue) => findWorking(overdue, open),
  });
}

/**
 * Calls `use` with one session of a Postgres, which may be read-only and is not migrated.
 *
 * @throws DatabaseSettingsError when the URL cannot be parsed.
 * @throws PlantStoreError `databaseUnavailable` when no host is reachable, or when a statement fails.
 */
export function usePostgres<T>(url: string, use: (query: Query) => Promise<T>): Promise<T> {
  return orUnavailable(withSession(createOpener(url), use));
}

type Opener = (limits: SessionLimits) => Promise<PostgresSession>;

async function withSession<T>(open: Opener, use: (query: Query) => Promise<T>): Promise<T> {
  const session = await open(toolLimits);
  return use(session.queryObjects).finally(session.drop);
}

/**
 * Makes a function that opens a session on the first host of the URL that can be used. The function begins with
 * the host that it used last. Of several hosts, it uses only one that accepts writes.
 */
function createOpener(url: string): Opener {
  const address = parseDatabaseUrl(url);
  let hosts = address.hosts.map((host) => ({ host, dropped: Array.of<string>() }));
  let joinCluster: ReturnType<typeof createCluster> | undefined;
  return open;

  async function open(limits: SessionLimits): Promise<PostgresSession> {
    let lastError: unknown;
    for (const { host, dropped } of hosts) {
      try {
        const session = await openSession(host, address, limits, dropped);
        if (!session.isReadOnly || hosts.length === 1) return await withCluster(session);
        session.drop();
        lastError = readOnlyError(host);
      } catch (error) {
        lastError = error;
      }
      // A host that cannot be used becomes the last one.
      hosts = [...hosts.filter((each) => each.host !== host), { host, dropped }];
    }
    throw lastError;
  }

  async function withCluster(session: PostgresSession): Promise<PostgresSession> {
    if (!session.hasCitus) return session;
    const citus = await import('../citus/cluster.ts');
    joinCluster ??= citus.createCluster(() => open(requestLimits));
    return joinCluster(session);
  }
}

function readOnlyError({ host, port }: Host): Error {
  return Object.assign(new Error(`${host}:${port} is read-only`), { code: '25006' });
}

/** Behind a pooler, an overdue statement keeps its connection for this long, in milliseconds. */
const poolerPatience = 30_000;

/**
 * Returns the overdue statements on which the server works. A server that does not respond works on none. A
 * session that waits for its client to read does not work, either.
 */
async function findWorking(
  statements: readonly Statement[],
  open: Opener,
): Promise<readonly Statement[]> {
  // A coordinator waits for a silent node longer than any time limit, but a new session does not.
  const overdue = statements.filter(({ session }) => !(session as PostgresSession).hasCitus);
  const ids = overdue.flatMap((each) => (each.session as PostgresSession).id ?? []);
  // Only the pooler knows which session runs a statement.
  if (ids.length < overdue.length) {
    const since = performance.now() - poolerPatience;
    return overdue.filter(({ deadline }) => deadline > since);
  }
  try {
    const session = await open(requestLimits);
    const asked = session.query(selectActive, [arrayText(ids)]);
    const { rows } = await withTimeout(asked, 1_000).finally(session.drop);
    const active = new Set(rows.map(([id]) => id));
    return overdue.filter((_, i) => active.has(ids[i]));
  } catch (error) {
    // A server that rejects the new session still responds, for example when it has no free connection.
    return error instanceof Error && 'severity' in error ? overdue : [];
  }
}

const selectActive = `
  select pid || ' ' || backend_start from pg_stat_activity
  where pid || ' ' || backend_start = any($1::text[]) and state = 'active'
    and wait_event is distinct from 'ClientWrite'`;
