import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { drizzle } from 'drizzle-orm/pglite';
import { migrate } from 'drizzle-orm/pglite/migrator';
import {
  copyIntoPlants,
  type Database,
  type Drizzle,
  migrationsFolder,
  type Query,
} from '../database.ts';
import { DataDirectoryError, lockDataDirectory } from './data-directory-lock.ts';

/** An empty file that marks a data directory as one that has had a database. */
const inUseFile = 'in-use';

/**
 * Opens and migrates the embedded database: PGlite, a Postgres inside this process with its data in
 * a directory. Committed plants survive a crash of the process. They may not survive a power cut,
 * because PGlite does not call fsync.
 *
 * @throws DataDirectoryError when another process has the directory open, the directory is not
 *   writable, or the database in it is damaged
 */
export async function openEmbeddedDatabase(directory: string): Promise<Database> {
  const { client, close } = await openPGlite(directory, async (opened) => {
    await migrate(drizzle(opened), { migrationsFolder });
    await writeFile(join(directory, inUseFile), '');
  });
  const db = drizzle(client);
  const query: Query = async (statement, values) => {
    const { rows, affectedRows } = await client.query<unknown>(statement, values, {
      rowMode: 'array',
    });
    return { rows, count: affectedRows || rows.length };
  };
  return {
    db,
    maxInFlight: 1,
    query,
    bulk: {
      db,
      query,
      async copyPlants(rows) {
        // PGlite's COPY reads from this device, which holds the `blob` of the same query.
        await client.query(`${copyIntoPlants} '/dev/blob'`, [], { blob: new Blob([rows]) });
      },
    },
    close,
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
  use: (db: Drizzle) => Promise<T>,
): Promise<T | undefined> {
  if (!(await hasDatabase(directory))) return undefined;
  const { client, close } = await openPGlite(directory, async () => {});
  try {
    return await use(drizzle(client));
  } finally {
    await close();
  }
}

/** @throws DataDirectoryError when PGlite cannot open the database, or `prepare` throws */
async function openPGlite(
  directory: string,
  prepare: (client: PGlite) => Promise<void>,
): Promise<{ client: PGlite; close: () => Promise<void> }> {
  const unlock = await lockDataDirectory(directory);
  let client: PGlite | undefined;
  const close = async () => {
    try {
      await client?.close();
    } finally {
      unlock();
    }
  };
  try {
    await checkNotDamaged(directory);
    client = await PGlite.create(join(directory, 'postgres'));
    await prepare(client);
    return { client, close };
  } catch (cause) {
    await close().catch(() => {}); // After an error, PGlite may also fail to close.
    if (cause instanceof DataDirectoryError) throw cause;
    throw new DataDirectoryError(
      `the database in ${directory} cannot be opened (${cause instanceof Error ? cause.message : cause}): ` +
        'restore it from a backup, or choose another directory',
      { cause },
    );
  }
}

/** PGlite creates an empty database when it finds none, which would hide the loss of an earlier one. */
async function checkNotDamaged(directory: string): Promise<void> {
  if ((await exists(directory, inUseFile)) && !(await hasDatabase(directory))) {
    throw new DataDirectoryError(
      `the database in ${directory} is damaged, postgres/PG_VERSION is missing: ` +
        'restore it from a backup, or choose another directory',
    );
  }
}

function hasDatabase(directory: string): Promise<boolean> {
  return exists(directory, 'postgres', 'PG_VERSION');
}

function exists(...path: string[]): Promise<boolean> {
  return access(join(...path)).then(
    () => true,
    () => false,
  );
}
