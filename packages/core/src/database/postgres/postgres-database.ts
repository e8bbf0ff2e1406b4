import { setTimeout } from 'node:timers/promises';
import { drizzle } from 'drizzle-orm/pg-proxy';
import { ConnectionPool } from './connection-pool.ts';
import { copyIntoPlants, type Database, type Drizzle } from '../database.ts';
import { databaseSettingsError } from '../database-settings-error.ts';
import { connector } from './hosts.ts';
import { migratePostgres } from './migration.ts';

/** So many statements may hang on a locked table, and tokens are still looked up on the connections beside. */
const maxInFlight = 4;

/** Milliseconds for a statement about many plants. */
const bulkDeadline = 10 * 60_000;

/** Milliseconds from an attempt to migrate that failed to the next. */
const pause = 500;

/**
 * Opens a Postgres by its URL (`postgres://user:password@host:port/database`) and migrates it. The
 * Postgres need not be there: until it is, and migrated, every statement fails.
 *
 * @throws DatabaseSettingsError when it is there, but refuses the store until somebody changes that.
 */
export async function openPostgres(url: string): Promise<Database> {
  const connect = connector(url);
  const pool = new ConnectionPool({ connect, max: maxInFlight + 2 });
  const bulk = new ConnectionPool({
    connect: connector(url, bulkDeadline),
    max: 1,
    deadline: bulkDeadline,
  });
  let isClosed = false;

  let migration = migratePostgres(connect);
  const refusal = databaseSettingsError(await failureOf(migration));
  if (refusal) throw refusal;
  void migrateAtLast();

  return {
    db: drizzleOver(pool),
    maxInFlight,
    async execute(text, parameters) {
      await migration;
      return (await pool.query(text, [...parameters])).count;
    },
    bulk: {
      db: drizzleOver(bulk),
      async copyPlants(rows) {
        await migration;
        await bulk.copy(`${copyIntoPlants} stdin`, rows);
      },
    },
    async close() {
      isClosed = true;
      pool.close();
      bulk.close();
    },
  };

  function drizzleOver(connections: ConnectionPool): Drizzle {
    return drizzle(async (text, parameters, method) => {
      await migration;
      return connections.query(text, parameters, method === 'all' ? 'arrays' : 'objects');
    });
  }

  /** Until it has worked, statements wait for the attempt that is under way, and fail with it. */
  async function migrateAtLast(): Promise<void> {
    while ((await failureOf(migration)) && !isClosed) {
      migration = setTimeout(pause).then(() => migratePostgres(connect));
    }
  }
}

/** What a promise is rejected with; undefined when it is not. */
function failureOf(promise: Promise<void>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error ?? new Error('no reason given'),
  );
}
