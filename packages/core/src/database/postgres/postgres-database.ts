import { setTimeout } from 'node:timers/promises';
import { drizzle } from 'drizzle-orm/pg-proxy';
import { copyIntoPlants, type Database, type Drizzle } from '../database.ts';
import { databaseSettingsError } from '../database-settings-error.ts';
import type { Connection } from './connection.ts';
import { ConnectionPool } from './connection-pool.ts';
import { createConnector } from './connector.ts';
import { migratePostgres, migrationTimeout } from './migration.ts';

/** With so many inserts blocked by a locked table, two connections are left to look up tokens. */
const maxInFlight = 4;

/** Milliseconds for a statement about many plants. */
const bulkTimeout = 10 * 60_000;

/** Milliseconds from a failed migration to the next attempt. */
const migrationRetryDelay = 500;

/**
 * Opens a Postgres by its URL (`postgres://user:password@host:port/database`) and migrates it. The
 * Postgres may be away: every statement fails until it is reachable and migrated.
 *
 * @throws DatabaseSettingsError when the Postgres rejects the store until somebody changes its
 *   settings or the URL
 */
export async function openPostgres(url: string): Promise<Database> {
  const connect = createConnector(url);
  let isClosed = false;

  const migrate = () => migratePostgres(createConnector(url, migrationTimeout));

  let migration = migrate();
  const settingsError = databaseSettingsError(await errorOf(migration));
  if (settingsError) throw settingsError;
  void retryMigration();

  const pool = new ConnectionPool({ connect: onceMigrated(connect), max: maxInFlight + 2 });
  const bulk = new ConnectionPool({
    connect: onceMigrated(createConnector(url, bulkTimeout)),
    max: 1,
    timeout: bulkTimeout,
  });

  return {
    db: drizzleOver(pool),
    maxInFlight,
    query: pool.query.bind(pool),
    bulk: {
      db: drizzleOver(bulk),
      query: bulk.query.bind(bulk),
      copyPlants: (rows) => bulk.copy(`${copyIntoPlants} stdin`, rows),
    },
    async close() {
      isClosed = true;
      pool.close();
      bulk.close();
    },
  };

  /** Tries until one attempt succeeds. */
  async function retryMigration(): Promise<void> {
    while ((await errorOf(migration)) && !isClosed) {
      migration = setTimeout(migrationRetryDelay).then(migrate);
    }
  }

  /** Opens no connection before the migration; fails when the current attempt to migrate fails. */
  function onceMigrated(open: () => Promise<Connection>): () => Promise<Connection> {
    return async () => {
      await migration;
      return open();
    };
  }
}

function drizzleOver(pool: ConnectionPool): Drizzle {
  return drizzle((text, parameters, method) =>
    pool.query(text, parameters, method === 'all' ? 'arrays' : 'objects'),
  );
}

/** The error that a promise is rejected with; undefined when it is fulfilled. */
function errorOf(promise: Promise<void>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error ?? new Error('no reason given'),
  );
}
