import { openPlantStore, type PlantStore } from '@plant-store/core';
import { CommandFailure, rootMessage } from './errors.ts';
import { readSettings } from './settings.ts';

/** Opens the store that the settings name, uses it, and lets go of it however that ends. */
export async function withStore<T>(use: (store: PlantStore) => Promise<T>): Promise<T> {
  const store = await openPlantStore(readSettings());
  try {
    await store.ready().catch((cause) => {
      const remedy = 'check DATABASE_URL and that it is running';
      const message = `cannot open the database (${rootMessage(cause)}): ${remedy}`;
      throw new CommandFailure(message, { cause });
    });
    return await use(store);
  } finally {
    await store.close();
  }
}
