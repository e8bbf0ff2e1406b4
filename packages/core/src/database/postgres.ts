import type { createCluster } from '../citus/cluster.ts';
import type { Database, Kind, OpenOptions, Query } from './database.ts';
import { parseDatabaseUrl } from './database-url.ts';
import { deadlineIn, withDeadline } from './deadline.ts';
import { databaseSettingsError, databaseUnavailable, orUnavailable } from './errors.ts';
import { migrate } from './migration.ts';
import { bulkKinds, Pool } from './pool.ts';
import { openSession, type PostgresSession, type SessionLimits } from './session.ts';

const connections: Readonly<Record<Kind, number>> = {
  ...{ creates: 2, edits: 2, reads: 4 },
  ...{ counts: 1, searches: 1, changes: 1 },
};

/** The database usually ends a slow statement before its caller's deadline (5 s), so that the session stays usable. */
const requestLimits = { statement_timeout: 4_500, lock_timeout: 4_000 };

const bulkLimits = { ...requestLimits, statement_timeout: 60_000 };

/** The limits of a statement of `migrate`, of `doctor` or of `distribute`, which copies all plants. */
const toolLimits = { statement_timeout: 3_600_000, lock_timeout: 60_000 };

/** The time limit of a whole migration, in milliseconds. The limit applies even on a silent network. */
const migrationTimeout = 60_000;

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
  const migrateOnce = () => {
    const migrateInTime = (query: Query) =>
      withDeadline(migrate(query), deadlineIn(migrationTimeout));
    migrated ??= withSession(open, migrateInTime).catch((error: unknown) => {
      migrated = undefined;
      throw error;
    });
    return migrated;
  };
  await migrateOnce().catch((error: unknown) => {
    const settingsError = databaseSettingsError(error);
    if (settingsError) throw settingsError;
    if (requireConnection) throw databaseUnavailable(error);
  });
  return new Pool({
    connections,
    async open(kind) {
      await migrateOnce();
      return open(bulkKinds.has(kind) ? bulkLimits : requestLimits);
    },
    working: (ids) => findWorking(ids, open),
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
 * Makes a function that opens a session on a host of the URL. The function tries the host of its last session
 * first. If the URL has several hosts, the function uses only a host that accepts writes.
 */
function createOpener(url: string): Opener {
  const addresses = parseDatabaseUrl(url);
  const dropped: string[] = [];
  let joinCluster: ReturnType<typeof createCluster> | undefined;
  return open;

  async function open(limits: SessionLimits): Promise<PostgresSession> {
    let lastError: unknown;
    for (const address of [...addresses]) {
      try {
        const session = await openSession(address, limits, dropped);
        if (!session.isReadOnly || addresses.length === 1) return await withCluster(session);
        session.drop();
        const message = `${address.host}:${address.port} is read-only`;
        lastError = Object.assign(new Error(message), { code: '25006' });
      } catch (error) {
        lastError = error;
      }
      // The next call tries an unusable host last.
      addresses.push(...addresses.splice(addresses.indexOf(address), 1));
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

/** Returns the ids of the sessions whose statements the server executes, and no ids for a silent server. */
async function findWorking(ids: readonly string[], open: Opener): Promise<ReadonlySet<unknown>> {
  try {
    const session = await open(requestLimits);
    const asked = session.query(selectWorking, [ids.join()]);
    const { rows } = await withDeadline(asked, deadlineIn(1_000)).finally(session.drop);
    return new Set(rows.map(([id]) => id));
  } catch (error) {
    // A server that rejects the new session still responds, for example when it has no free connection.
    return new Set(error instanceof Error && 'severity' in error ? ids : []);
  }
}

/** Selects the sessions that execute a statement, except sessions that wait until their clients read. */
const selectWorking = `
  select pid || ' ' || backend_start from pg_stat_activity
  where pid || ' ' || backend_start = any(string_to_array($1, ',')) and state = 'active'
    and wait_event is distinct from 'ClientWrite'`;
