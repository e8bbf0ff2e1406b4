import { openPlantStore, type PlantStore, PlantStoreError } from '@plant-store/core';
import { CommandError } from './errors.ts';
import { readSettings } from './settings.ts';

/**
 * Opens the store of the settings, calls `use` with it, and closes it afterwards.
 *
 * @throws CommandError when the settings are invalid or the database cannot be opened.
 */
export async function withStore<T>(use: (store: PlantStore) => Promise<T>): Promise<T> {
  const store = await openPlantStore(readSettings());
  try {
    await store.ready().catch((cause) => {
      const reason = cause instanceof PlantStoreError ? cause.reason : String(cause);
      const message = `cannot open the database (${reason}): ${databaseHint}`;
      throw new CommandError(message, { cause });
    });
    return await use(store);
  } finally {
    await store.close();
  }
}

/** What to do when the database does not answer. */
export const databaseHint = 'check DATABASE_URL, and that the database is running';
