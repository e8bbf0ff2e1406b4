import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Database, OpenOptions, OwnSession } from './database.ts';
import { DataDirectoryError } from './embedded/lock.ts';

/** The location of a database: the URL of a Postgres, or the directory of an embedded database. */
export type DatabaseOptions = { databaseUrl: string } | { dataDirectory: string };

/** Opens and migrates a database. Loads only the driver that the database needs. */
export async function openDatabase(
  options: DatabaseOptions,
  openOptions: OpenOptions = {},
): Promise<Database> {
  if ('databaseUrl' in options) {
    const { openPostgres } = await import('./postgres.ts');
    return openPostgres(options.databaseUrl, openOptions);
  }
  const directory = resolveDirectory(options.dataDirectory);
  const { openEmbedded, hasDatabase } = await importEmbedded();
  if (openOptions.readOnly && !(await hasDatabase(directory))) {
    throw new DataDirectoryError(
      `there is no store in ${directory}: start the server to create one, or set DATABASE_URL or ` +
        'PLANT_STORE_DATA_DIR to the store',
    );
  }
  return openEmbedded(directory);
}

/**
 * Calls `use` with one session of a database that is not migrated. Returns undefined when the directory has no
 * database yet.
 */
export async function useDatabase<T>(
  options: DatabaseOptions,
  use: (session: OwnSession) => Promise<T>,
): Promise<T | undefined> {
  if ('databaseUrl' in options) {
    const { usePostgres } = await import('./postgres.ts');
    return usePostgres(options.databaseUrl, use);
  }
  const { useEmbedded } = await importEmbedded();
  return useEmbedded(resolveDirectory(options.dataDirectory), use);
}

function resolveDirectory(given: unknown): string {
  if (typeof given !== 'string' || given === '') {
    throw new DataDirectoryError('pass a databaseUrl, or the path of a dataDirectory');
  }
  // With `memory://`, PGlite has no directory, but the store needs a directory for the lock.
  if (given.startsWith('memory://')) {
    throw new DataDirectoryError('memory:// is not a directory: use openTestStore for a test');
  }
  // A relative path would mean another directory after the program changes its working directory.
  return resolve(given);
}

const pgliteName = '@electric-sql/pglite';

/** @throws DataDirectoryError when PGlite, an optional peer of this package, is not installed */
async function importEmbedded() {
  try {
    await import(pgliteName);
  } catch (cause) {
    // The path to the manifest is the same from `src` and from `dist`.
    const text = await readFile(new URL('../../package.json', import.meta.url), 'utf8');
    const { peerDependencies }: { peerDependencies: Record<string, string> } = JSON.parse(text);
    const pglite = `${pgliteName}@${peerDependencies[pgliteName]}`;
    const message = `a data directory needs PGlite: run \`npm install ${pglite}\`, or use a databaseUrl`;
    throw new DataDirectoryError(message, { cause });
  }
  return import('./embedded/embedded.ts');
}
