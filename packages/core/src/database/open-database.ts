import type { Database, Drizzle } from './database.ts';

/** Which database to use: a Postgres (`postgres://…`), or an embedded one in a directory. */
export type DatabaseOptions = { databaseUrl: string } | { dataDirectory: string };

/** Opens and migrates a database. Loads only the driver that it needs. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  if ('databaseUrl' in options) {
    const { openPostgres } = await import('./postgres/postgres-database.ts');
    return openPostgres(options.databaseUrl);
  }
  const { openEmbeddedDatabase } = await import('./embedded/embedded-database.ts');
  return openEmbeddedDatabase(options.dataDirectory);
}

/** Uses a database without migrating it; returns undefined when the directory has no database yet. */
export async function useDatabase<T>(
  options: DatabaseOptions,
  use: (db: Drizzle) => Promise<T>,
): Promise<T | undefined> {
  if ('databaseUrl' in options) {
    const { usePostgres } = await import('./postgres/use-postgres.ts');
    return usePostgres(options.databaseUrl, use);
  }
  const { useEmbeddedDatabase } = await import('./embedded/embedded-database.ts');
  return useEmbeddedDatabase(options.dataDirectory, use);
}
