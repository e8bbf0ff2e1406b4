import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { drizzle } from 'drizzle-orm/pglite';
import { migrate } from 'drizzle-orm/pglite/migrator';
import { DataDirectoryError, lockDataDirectory } from './data-directory-lock.ts';
import { copyIntoPlants, type Database, type Drizzle, migrationsFolder } from '../database.ts';

/**
 * Opens the Postgres inside this process (PGlite) that keeps its data in a directory, and migrates
 * it. What it acknowledged survives the death of the process, but PGlite has no fsync, so not
 * necessarily a power cut.
 *
 * @throws DataDirectoryError when another process has the directory open, it cannot be written to,
 *   or the database in it is damaged.
 */
export async function openEmbeddedDatabase(directory: string): Promise<Database> {
  const { client, close } = await openPGlite(directory, async (opened) => {
    await migrate(drizzle(opened), { migrationsFolder });
    await writeFile(join(directory, 'in-use'), '');
  });
  const db = drizzle(client);
  return {
    db,
    maxInFlight: 1,
    async execute(statement, values) {
      const { affectedRows = 0 } = await client.query(statement, [...values]);
      return affectedRows;
    },
    bulk: {
      db,
      async copyPlants(rows) {
        // PGlite reads what it copies from a device that each query brings along.
        await client.query(`${copyIntoPlants} '/dev/blob'`, [], { blob: new Blob([rows]) });
      },
    },
    close,
  };
}

/**
 * Uses the database in a directory as it is, without migrating it.
 *
 * @returns what `use` does, or undefined when there is no database yet.
 * @throws DataDirectoryError as above
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

/** A database on which `prepare` fails counts as one that cannot be opened. */
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
    await refuseDamaged(directory);
    client = await PGlite.create(join(directory, 'postgres'));
    await prepare(client);
    return { client, close };
  } catch (cause) {
    await close().catch(() => {}); // A PGlite that has failed may fail to close, too.
    if (cause instanceof DataDirectoryError) throw cause;
    throw new DataDirectoryError(
      `the database in ${directory} cannot be opened (${cause instanceof Error ? cause.message : cause}): ` +
        'restore it from a backup, or choose another directory',
      { cause },
    );
  }
}

/** PGlite makes an empty database where it finds none, also where there was one with plants in it. */
async function refuseDamaged(directory: string): Promise<void> {
  if ((await isThere(directory, 'in-use')) && !(await hasDatabase(directory))) {
    throw new DataDirectoryError(
      `the database in ${directory} is damaged, postgres/PG_VERSION is missing: ` +
        'restore it from a backup, or choose another directory',
    );
  }
}

function hasDatabase(directory: string): Promise<boolean> {
  return isThere(directory, 'postgres', 'PG_VERSION');
}

function isThere(...path: string[]): Promise<boolean> {
  return access(join(...path)).then(
    () => true,
    () => false,
  );
}
