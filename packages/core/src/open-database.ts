import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Database, DatabaseConnection, OpenOptions } from './database/database.ts';
import { checkHasDatabase, DataDirectoryError } from './embedded/data-directory-state.ts';
import type { UnreachableHost } from './postgres/use-postgres.ts';

/** The location of a database: the URL of a Postgres, or the directory of an embedded database. */
export type DatabaseOptions = { databaseUrl: string } | { dataDirectory: string };

/** Opens and migrates a database. Loads only the driver that the database needs. */
export async function openDatabase(
  options: DatabaseOptions,
  openOptions: OpenOptions = {},
): Promise<Database> {
  checkNode();
  if ('databaseUrl' in options) {
    const { openPostgres } = await import('./postgres/postgres-database.ts');
    return openPostgres(options.databaseUrl, openOptions);
  }
  const given: unknown = options.dataDirectory;
  if (typeof given !== 'string' || given === '') {
    throw new DataDirectoryError('pass a databaseUrl, or the path of a dataDirectory');
  }
  // With `memory://`, PGlite has no directory, but the store needs a directory for the lock.
  if (given.startsWith('memory://')) {
    throw new DataDirectoryError('memory:// is not a directory: use openTestStore for a test');
  }
  // A relative path would mean another directory after the program changes its working directory.
  const dataDirectory = resolve(given);
  const { create = !openOptions.readOnly } = openOptions;
  if (!create) await checkHasDatabase(dataDirectory);
  const { openEmbeddedDatabase } = await importEmbeddedDatabase();
  return openEmbeddedDatabase(dataDirectory);
}

/**
 * Opens a database for `use`, but does not migrate the tables. Returns undefined when the directory has no
 * database yet.
 */
export async function useDatabase<T>(
  options: DatabaseOptions,
  use: (
    connection: DatabaseConnection,
    unreachableHosts?: UnreachableHost[],
    poolerWarning?: string,
  ) => Promise<T>,
): Promise<T | undefined> {
  checkNode();
  if ('databaseUrl' in options) {
    const { usePostgres } = await import('./postgres/use-postgres.ts');
    return usePostgres(options.databaseUrl, use);
  }
  const { useEmbeddedDatabase } = await importEmbeddedDatabase();
  return useEmbeddedDatabase(options.dataDirectory, use);
}

/** Throws if Node is too old. An older Node would open the store, but would throw at the first create. */
function checkNode(): void {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > 22 || (major === 22 && minor >= 18)) return;
  throw new Error(
    `this is Node ${process.versions.node}: the plant store needs Node 22.18 or newer`,
  );
}

/** @throws DataDirectoryError when PGlite, an optional peer of this package, is not installed */
async function importEmbeddedDatabase() {
  try {
    return await import('./embedded/embedded-database.ts');
  } catch (cause) {
    if (!isMissingPGlite(cause)) throw cause;
    const pglite = `${pgliteName}@${await pgliteRange()}`;
    const message = `a data directory needs PGlite: run \`npm install ${pglite}\`, or use a databaseUrl`;
    throw new DataDirectoryError(message, { cause });
  }
}

const pgliteName = '@electric-sql/pglite';

function isMissingPGlite(error: unknown): boolean {
  const isNotFound =
    error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
  return isNotFound && error.message.includes(`'${pgliteName}'`);
}

/**
 * The versions of PGlite that this package supports. The path to the manifest is the same from `src` and from
 * `dist`.
 */
async function pgliteRange(): Promise<string | undefined> {
  const text = await readFile(new URL('../package.json', import.meta.url), 'utf8');
  const manifest: { peerDependencies: Record<string, string> } = JSON.parse(text);
  return manifest.peerDependencies[pgliteName];
}
