import { max, sql } from 'drizzle-orm';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import { bigint, pgSchema } from 'drizzle-orm/pg-core';
import { type Drizzle, migrationsFolder } from './database.ts';
import { type DatabaseOptions, useDatabase } from './open-database.ts';

/** The properties of a database that matter to the store. */
export interface DatabaseState {
  readonly version: string;
  readonly encoding: string;
  readonly isReadOnly: boolean;
  /** The durability settings: `on` or `off`, and more values for `synchronous_commit`. */
  readonly fsync: string;
  readonly fullPageWrites: string;
  readonly synchronousCommit: string;
  /** Milliseconds by which the database's clock is ahead of this machine's. */
  readonly clockAhead: number;
  /** How many migrations of this version of the store the database lacks. */
  readonly missingMigrations: number;
  /** Whether a later version of the store has migrated the database. */
  readonly isNewer: boolean;
}

/**
 * Reads the state of a database and changes nothing in it.
 *
 * @returns undefined when the data directory has no database yet
 * @throws DataDirectoryError when the directory cannot be used, PlantStoreError
 *   `databaseUnavailable` when the Postgres cannot be reached
 */
export function inspectDatabase(options: DatabaseOptions): Promise<DatabaseState | undefined> {
  return useDatabase(options, inspect);
}

async function inspect(db: Drizzle): Promise<DatabaseState> {
  const sentAt = Date.now();
  const [row] = await db.select(facts).from(sql`(select) as nothing`);
  const now = (sentAt + Date.now()) / 2;
  if (!row) throw new Error('the database returned no row');

  const { epoch, isMigrated, ...state } = row;
  const last = isMigrated ? await lastMigration(db) : 0;
  const known = readMigrationFiles({ migrationsFolder }).map(({ folderMillis }) => folderMillis);
  return {
    ...state,
    clockAhead: Math.round(Number(epoch) * 1000 - now),
    missingMigrations: known.filter((when) => when > last).length,
    isNewer: last > Math.max(...known),
  };
}

const setting = (name: string) => sql<string>`current_setting(${name})`;

const facts = {
  version: setting('server_version'),
  encoding: setting('server_encoding'),
  isReadOnly: sql<boolean>`current_setting('transaction_read_only')::bool`,
  fsync: setting('fsync'),
  fullPageWrites: setting('full_page_writes'),
  synchronousCommit: setting('synchronous_commit'),
  epoch: sql<string>`extract(epoch from clock_timestamp())`,
  isMigrated: sql<boolean>`to_regclass('drizzle.__drizzle_migrations') is not null`,
};

/** Drizzle's own table of applied migrations; `created_at` is the time when a migration was generated. */
const migrations = pgSchema('drizzle').table('__drizzle_migrations', {
  createdAt: bigint('created_at', { mode: 'number' }),
});

async function lastMigration(db: Drizzle): Promise<number> {
  const [row] = await db.select({ last: max(migrations.createdAt) }).from(migrations);
  return row?.last ?? 0;
}
