import { drizzle } from 'drizzle-orm/pg-proxy';
import { type Database, migrationsFolder, type Query } from '../database.ts';
import { type RunText, readSchemaVersion } from '../schema-version.ts';
import { bulkTimeout } from '../timeout.ts';
import { openCopies, removeCopies } from './copy-session.ts';
import { hasDatabase, markInUse } from './data-directory-state.ts';
import { openError, PGliteConnection } from './pglite-connection.ts';

/**
 * Opens and migrates the embedded database: PGlite, a Postgres in a thread of this process with its
 * data in a directory. Committed plants survive a crash of the process. They may not survive a power
 * cut, because PGlite does not call fsync.
 *
 * @throws DataDirectoryError when another process has the directory open, the directory is not
 *   writable, its disk has no room, or the database in it is damaged
 */
export async function openEmbeddedDatabase(directory: string): Promise<Database> {
  const connection = await PGliteConnection.open(directory);
  try {
    await migrateEmbedded(connection);
    await markInUse(directory);
    await removeCopies(directory);
  } catch (cause) {
    await connection.close();
    throw openError(directory, cause);
  }
  return {
    db: drizzleOver(connection),
    maxInFlight: 1,
    query: queryOver(connection),
    bulk: {
      db: drizzleOver(connection, bulkTimeout),
      query: queryOver(connection, bulkTimeout),
      async copyPlants(rows, columns) {
        // PGlite's COPY reads from this device, which holds the `blob` of the same statement.
        const text = `copy plants (${columns}) from '/dev/blob'`;
        await connection.run({ text, blob: rows }, bulkTimeout);
      },
      openCopies: async () => openCopies(connection, directory),
    },
    close: () => connection.close(),
  };
}

/**
 * Uses the database in a directory without migrating it.
 *
 * @returns the result of `use`, or undefined when the directory has no database yet
 * @throws DataDirectoryError as `openEmbeddedDatabase` does
 */
export async function useEmbeddedDatabase<T>(
  directory: string,
  use: (run: RunText) => Promise<T>,
): Promise<T | undefined> {
  if (!(await hasDatabase(directory))) return undefined;
  const connection = await PGliteConnection.open(directory);
  try {
    return await use(runOver(connection));
  } finally {
    await connection.close();
  }
}

/** Applies the missing migrations in one transaction. */
async function migrateEmbedded(connection: PGliteConnection): Promise<void> {
  const { isKnown, missingMigrations } = await readSchemaVersion(runOver(connection));
  if (isKnown && missingMigrations === 0) return;
  const { migrate } = await import('drizzle-orm/pg-proxy/migrator');
  const run = (text: string) => connection.run({ text }, bulkTimeout);
  await run('begin');
  await migrate(
    drizzleOver(connection, bulkTimeout),
    async (statements) => {
      for (const statement of statements) await run(statement);
    },
    { migrationsFolder },
  );
  await run('commit');
}

function runOver(connection: PGliteConnection): RunText {
  return async (text) => (await connection.run({ text, rowMode: 'object' })).rows;
}

function drizzleOver(connection: PGliteConnection, timeout?: number) {
  return drizzle((text, values, method) => {
    const rowMode = method === 'all' ? 'array' : 'object';
    return connection.run({ text, values, rowMode }, timeout);
  });
}

function queryOver(connection: PGliteConnection, timeout?: number): Query {
  return (text, texts) => connection.run({ text, texts }, timeout);
}
