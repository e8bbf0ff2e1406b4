import { type Database, lateCommit, type OpenOptions } from '../database/database.ts';
import { databaseUnavailable } from '../database/database-error.ts';
import { bulkTimeout } from '../database/deadline.ts';
import { databaseSettingsError } from '../database/explain-database-error.ts';
import { ConnectionPool } from '../database/pool/connection-pool.ts';
import { createVerbs } from '../database/verbs.ts';
import { migrationTimeout } from '../tables/schema-version.ts';
import { type ConnectOptions, createConnectToPrimary } from './connect-to-primary.ts';
import type { Connection } from './connection.ts';
import { createMigrator } from './migration/create-migrator.ts';
import { migratePostgres } from './migration/migration.ts';
import { poolerForgets } from './prepared-statements.ts';

/**
 * The number of connections for requests, by kind of statement. Look-ups share statements, so look-ups need
 * only one connection. Lists have two connections, because some lists take long or need their own statement.
 */
const shares = { creates: 2, deletes: 1, lookUps: 1, lists: 2 };

/** The time limit for a bulk statement that waits for a lock, in milliseconds. */
const bulkLockTimeout = 10_000;

/**
 * Opens a Postgres by its URL (`postgres://user:password@host:port/database`) and migrates its tables. If the
 * Postgres is unreachable, every statement fails until the Postgres is reachable and migrated.
 *
 * @param options if `readOnly` is true, the store does not migrate the tables, and the Postgres may be a read
 *   replica.
 * @throws DatabaseSettingsError when somebody must first change the settings or the URL of the Postgres.
 * @throws PlantStoreError `databaseUnavailable` when the migration fails and `requireConnection` is true.
 */
export async function openPostgres(
  url: string,
  { readOnly = false, onPrimary = !readOnly, requireConnection = false }: OpenOptions = {},
): Promise<Database> {
  let warn: ((message: string) => void) | undefined;
  const warned = new Set<string>();
  const applicationName = readOnly ? 'plant-store tool' : 'plant-store';
  const connectToStore = afterMigration();
  const connect = async () => {
    const connection = await connectToStore();
    if (!connection.prepares) warnOnce(poolerForgets);
    return connection;
  };
  const pool = new ConnectionPool({
    connect,
    shares,
    onError: (error) => migrator.notice(error),
    onUnsettled: () => warn?.(lateCommit),
  });
  const bulk = new ConnectionPool({
    connect: afterMigration({
      timeout: bulkTimeout,
      ...(!readOnly && { lockTimeout: bulkLockTimeout }),
    }),
    shares: { bulk: 1 },
    timeout: bulkTimeout,
  });
  const verbs = createVerbs((...statement) => {
    const [, , { share }] = statement;
    return (share === 'bulk' ? bulk : pool).run(...statement);
  });
  const migrationLimits = { timeout: migrationTimeout, lockTimeout: migrationTimeout };
  const migrate = () => migratePostgres(createConnectToPrimary(url, migrationLimits));
  const migrator = createMigrator(async () => {
    if (!readOnly) await migrate();
  });
  await migrator.migrated().catch((error: unknown) => {
    const settingsError = databaseSettingsError(error);
    if (settingsError) throw settingsError;
    if (requireConnection) throw databaseUnavailable(error);
  });

  return {
    ...verbs,
    mayCommit: pool.mayCommit,
    pools: () => [pool.state('requests'), bulk.state('bulk')],
    shares,
    onClockMoved: (listener) => pool.onClockMoved(listener),
    onWarning(listener) {
      warn = listener;
    },
    renewFeed: readOnly ? undefined : migrate,
    async close() {
      await Promise.all([pool.close(), bulk.close()]);
    },
  };

  /** Returns a function that migrates if necessary, and then connects. */
  function afterMigration(limits?: ConnectOptions): () => Promise<Connection> {
    const options = { readOnly: !onPrimary, applicationName, ...limits } as const;
    const connectNow = createConnectToPrimary(url, options);
    return async () => {
      await migrator.migrated();
      return connectNow();
    };
  }

  function warnOnce(message: string): void {
    if (!warn || warned.has(message)) return;
    warned.add(message);
    warn(message);
  }
}
