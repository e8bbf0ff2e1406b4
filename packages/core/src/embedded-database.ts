import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { drizzle } from 'drizzle-orm/pglite';
import { migrate } from 'drizzle-orm/pglite/migrator';
import { DataDirectoryError, lockDataDirectory } from './data-directory-lock.ts';
import { type Database, migrationsFolder } from './database.ts';

/**
 * Opens the Postgres inside this process (PGlite) that keeps its data in a directory, and migrates
 * it. What it acknowledged survives the death of the process, but PGlite has no fsync, so not
 * necessarily a power cut.
 *
 * @throws DataDirectoryError when another process has the directory open, it cannot be written to,
 *   or the database in it is damaged.
 */
export async function openEmbeddedDatabase(directory: string): Promise<Database> {
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
    const postgres = await PGlite.create(join(directory, 'postgres'));
    client = postgres;
    const db = drizzle(postgres);
    await migrate(db, { migrationsFolder });
    await writeFile(join(directory, 'in-use'), '');
    return {
      db,
      maxInFlight: 1,
      async execute(statement, values) {
        const { affectedRows = 0 } = await postgres.query(statement, [...values]);
        return affectedRows;
      },
      close,
    };
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
  const isThere = (...path: string[]) =>
    access(join(directory, ...path)).then(
      () => true,
      () => false,
    );
  if ((await isThere('in-use')) && !(await isThere('postgres', 'PG_VERSION'))) {
    throw new DataDirectoryError(
      `the database in ${directory} is damaged, postgres/PG_VERSION is missing: ` +
        'restore it from a backup, or choose another directory',
    );
  }
}
