import {
  type ClusterSessions,
  type CopySession,
  type Database,
  lateCommit,
  type OpenOptions,
} from '../database/database.ts';
import { databaseUnavailable } from '../database/database-error.ts';
import { bulkTimeout, defaultTimeout } from '../database/deadline.ts';
import { databaseSettingsError } from '../database/explain-database-error.ts';
import { ConnectionPool } from '../database/pool/connection-pool.ts';
import { createVerbs } from '../database/verbs.ts';
import { migrationTimeout } from '../tables/schema-version.ts';
import { type ConnectOptions, createConnectToPrimary } from './connect-to-primary.ts';
import { type Connection, connectPostgres } from './connection.ts';
import { LeftBehind } from './left-behind.ts';
import { createMigrator } from './migration/create-migrator.ts';
import { migratePostgres } from './migration/migration.ts';
import { poolerForgets } from './prepared-statements.ts';

/**
 * The number of connections for requests, by kind of statement. Look-ups share statements, so look-ups need
 * only one connection. Lists have two connections, because some lists take long or need their own statement.
 */
const shares = { creates: 2, deletes: 1, lookUps: 1, lists: 2 };

/** Additional connections for lists on a cluster, where each list needs all nodes. */
const moreLists = 2;

/** The time limit for a statement on a node of a cluster, in milliseconds; see connect-to-primary.ts. */
const nodeTimeout = 0.9 * defaultTimeout;

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
  {
    readOnly = false,
    onPrimary = !readOnly,
    requireConnection = false,
    cluster,
  }: OpenOptions & { cluster?: ClusterSessions | undefined } = {},
): Promise<Database> {
  let warn: ((message: string) => void) | undefined;
  const warned = new Set<string>();
  let isCluster = false;
  let isUnknownCluster = false;
  let isClosed = false;
  const settings = cluster?.settings;
  const applicationName = () => {
    if (readOnly) return 'plant-store tool';
    return isCluster ? 'plant-store cluster' : 'plant-store';
  };
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
  const copyPlants: Database['copyPlants'] = (rows, columns) => {
    const text = `copy plants (${columns}) from stdin`;
    return bulk.use({ text, share: 'bulk' }, (connection) => connection.copy(text, rows));
  };

  const leftBehindOnNodes = new LeftBehind();
  const noticeCluster = () => {
    if (isCluster) return;
    isCluster = true;
    pool.resize('lists', moreLists);
    // New sessions get a name that contains `plant-store cluster`.
    for (const each of [pool, bulk]) each.replaceAll();
  };

  const migrationLimits = { timeout: migrationTimeout, lockTimeout: migrationTimeout, settings };
  const migrate = async () => {
    const connectToMigrate = createConnectToPrimary(url, migrationLimits);
    isUnknownCluster = (await migratePostgres(connectToMigrate, cluster)) && !cluster;
    warnOfCluster();
  };
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
      warnOfCluster();
    },
    nodes: { connect, connectTo, noticeCluster },
    renewFeed: readOnly ? undefined : migrate,
    copyPlants: cluster
      ? (...rows) => cluster.copyPlants({ ...verbs, copyPlants }, ...rows)
      : copyPlants,
    openCopies,
    async close() {
      isClosed = true;
      await Promise.all([pool.close(), bulk.close()]);
    },
  };

  /** Returns a function that migrates if necessary, and then connects. */
  function afterMigration(limits?: ConnectOptions): () => Promise<Connection> {
    const options = { readOnly: !onPrimary, applicationName, settings, ...limits };
    const connectNow = createConnectToPrimary(url, options);
    return async () => {
      await migrator.migrated();
      return connectNow();
    };
  }

  /**
   * Opens a session for COPY statements that read. The session has a timeout only for locks, because a reader
   * may be slow.
   */
  async function openCopies(): Promise<CopySession> {
    if (isClosed) throw new Error('the store is closed');
    const options = { timeout: Number.POSITIVE_INFINITY, readOnly: !onPrimary, settings };
    const connection = await createConnectToPrimary(url, options)();
    return {
      copyOut: (select, format) =>
        connection.copyOut(`copy (${select}) to stdout (format ${format})`),
      close: () => connection.close(),
    };
  }

  /** Emits the warning later, so that the caller can first add a listener. */
  function warnOfCluster(): void {
    if (isUnknownCluster) setImmediate(warnOnce, unknownCluster);
  }

  function warnOnce(message: string): void {
    if (!warn || warned.has(message)) return;
    warned.add(message);
    warn(message);
  }

  function connectTo(host: string, port: number, timeout: number): Promise<Connection> {
    return connectPostgres({
      url,
      host,
      port,
      timeout,
      statementTimeout: nodeTimeout,
      leftBehind: leftBehindOnNodes,
      settings,
      applicationName: 'plant-store cluster',
    });
  }
}

/** The warning for a program that does not support the cluster. */
const unknownCluster =
  'the plants are distributed over a Citus cluster, and this program sends them all through one node, which ' +
  'costs more: pass `cluster: citus` of @plant-store/citus beside the databaseUrl';
