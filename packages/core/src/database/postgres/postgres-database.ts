import { setTimeout } from 'node:timers/promises';
import { databaseCode } from '../../error-causes.ts';
import { openNodeAccess } from '../cluster/node-access.ts';
import type { Database, NodeAccess, OpenOptions } from '../database.ts';
import { databaseUnavailable } from '../database-error.ts';
import { databaseSettingsError } from '../database-settings-error.ts';
import { bulkTimeout, queryTimeout } from '../timeout.ts';
import { createConnectToPrimary } from './connect-to-primary.ts';
import { type Connection, connectPostgres } from './connection.ts';
import { ConnectionPool } from './connection-pool.ts';
import { openCopies } from './copy-session.ts';
import { drizzleOver } from './drizzle-over.ts';
import { migratePostgres, migrationTimeout } from './migration/migration.ts';

/** Insert statements at the same time. */
const maxInFlight = 4;

/** With two more connections, tokens can be looked up while a locked table blocks all inserts. */
const maxConnections = maxInFlight + 2;

/** Statements that look up plants on a node of a cluster at the same time; see lookup-batcher.ts. */
const maxLookups = 2;

/** Lists at the same time on a cluster, each of which needs all nodes. */
const maxLists = 4;

/** Milliseconds for a statement on a node of a cluster; see connect-to-primary.ts. */
const nodeTimeout = 0.9 * queryTimeout;

/** Milliseconds between two migrations that a missing table causes, at least. */
const migrationInterval = 1_000;

/** Milliseconds for which a statement that stores or deletes many plants waits for a lock. */
const bulkLockTimeout = 10_000;

/** The SQLSTATE of a statement whose table does not exist. */
const undefinedTable = '42P01';

/** Milliseconds from a failed migration to the next attempt. */
const migrationRetryDelay = 500;

/**
 * Opens a Postgres by its URL (`postgres://user:password@host:port/database`) and migrates it. An
 * unreachable Postgres is no error here: every statement fails until it is reachable and migrated.
 *
 * @param options with `readOnly` it migrates nothing, and the Postgres may be a read replica
 * @throws DatabaseSettingsError when the Postgres cannot be used until somebody changes its
 *   settings or the URL, PlantStoreError `databaseUnavailable` only with `mustAnswer`
 */
export async function openPostgres(
  url: string,
  { readOnly = false, mustAnswer = false }: OpenOptions = {},
): Promise<Database> {
  let isClosed = false;
  let isCluster = false;

  const migrationLimits = { timeout: migrationTimeout, lockTimeout: migrationTimeout };
  const migrate = async () => {
    if (readOnly) return;
    const role = await migratePostgres(createConnectToPrimary(url, migrationLimits));
    isCluster = role !== undefined;
  };

  let migration = migrate();
  let migratedAt = Number.NEGATIVE_INFINITY;
  const error = await errorOf(migration);
  const settingsError = databaseSettingsError(error);
  if (settingsError) throw settingsError;
  if (error !== undefined && mustAnswer) throw databaseUnavailable(error);
  void retryMigration();

  const connectToPrimary = createConnectToPrimary(url, { readOnly });
  const pool = new ConnectionPool({
    connect: afterMigration(connectToPrimary),
    max: maxConnections,
  });
  const bulk = new ConnectionPool({
    connect: afterMigration(
      createConnectToPrimary(url, {
        timeout: bulkTimeout,
        readOnly,
        ...(!readOnly && { lockTimeout: bulkLockTimeout }),
      }),
    ),
    max: 1,
    timeout: bulkTimeout,
  });

  const allNodes = new ConnectionPool({
    connect: afterMigration(connectToPrimary),
    max: maxLists,
  });
  const poolOfLists = () => (isCluster ? allNodes : pool);

  const nodes = new Map<string, NodeAccess & { close(): Promise<void> }>();

  const onNode: Database['onNode'] = (node, clusterId) => {
    const key = `${clusterId} ${node.id} ${node.address}`;
    const access =
      nodes.get(key) ??
      openNodeAccess(
        { ...node, clusterId },
        {
          connect: afterMigration(connectToPrimary),
          connectTo: (host, port, timeout) =>
            connectPostgres({ url, host, port, timeout, statementTimeout: nodeTimeout }),
          max: maxInFlight + maxLookups,
        },
      );
    nodes.set(key, access);
    return access;
  };

  return {
    db: drizzleOver((...statement) => migrateIfMissing(pool.query(...statement))),
    maxInFlight,
    query: (...statement) => migrateIfMissing(pool.queryAgain(...statement)),
    get onNode() {
      return isCluster ? onNode : undefined;
    },
    allNodes: {
      db: drizzleOver((...statement) => migrateIfMissing(poolOfLists().query(...statement))),
      query: (...statement) => migrateIfMissing(poolOfLists().queryAgain(...statement)),
    },
    bulk: {
      db: drizzleOver(bulk.query.bind(bulk)),
      query: bulk.queryAgain.bind(bulk),
      copyPlants: (rows, columns) => bulk.copy(`copy plants (${columns}) from stdin`, rows),
      openCopies: () => openCopies(url, readOnly),
    },
    async close() {
      isClosed = true;
      await Promise.all([pool, allNodes, bulk, ...nodes.values()].map((each) => each.close()));
    },
  };

  /** Waits for a statement. When a table is missing, because the database is a new one, it migrates again. */
  async function migrateIfMissing<T>(statement: Promise<T>): Promise<T> {
    try {
      return await statement;
    } catch (error) {
      const isDue = performance.now() - migratedAt > migrationInterval;
      if (!readOnly && isDue && databaseCode(error) === undefinedTable) {
        migratedAt = performance.now();
        migration = migrate();
        void retryMigration();
      }
      throw error;
    }
  }

  /** Repeats a failed migration until it succeeds or the database is closed. */
  async function retryMigration(): Promise<void> {
    while ((await errorOf(migration)) && !isClosed) {
      migration = setTimeout(migrationRetryDelay).then(migrate);
    }
  }

  /** Waits for the migration before it connects; fails when the current attempt to migrate fails. */
  function afterMigration(connect: () => Promise<Connection>): () => Promise<Connection> {
    return async () => {
      await migration;
      return connect();
    };
  }
}

/** The error that a promise is rejected with; undefined when it is fulfilled. */
function errorOf(promise: Promise<void>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}
