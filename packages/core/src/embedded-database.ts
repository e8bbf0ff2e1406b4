import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { drizzle } from 'drizzle-orm/pglite';
import { migrate } from 'drizzle-orm/pglite/migrator';
import { lockDataDirectory } from './data-directory-lock.ts';
import { type Database, migrationsFolder } from './database.ts';

/**
 * Opens the Postgres inside this process (PGlite) that keeps its data in a directory, and migrates
 * it. What it acknowledged survives the death of the process, but PGlite has no fsync, so not
 * necessarily a power cut.
 *
 * @throws DataDirectoryError when another process has the directory open, or it cannot be written to.
 */
export async function openEmbeddedDatabase(directory: string): Promise<Database> {
  const unlock = await lockDataDirectory(directory);
  try {
    const client = await PGlite.create(join(directory, 'postgres'));
    const db = drizzle(client);
    await migrate(db, { migrationsFolder });
    return {
      db,
      maxInFlight: 1,
      close: async () => {
        await client.close();
        unlock();
      },
    };
  } catch (error) {
    unlock();
    throw error;
  }
}
