import type { OpenOptions, PlantStore, WebhookSettings } from '@plant-store/core';
import type { DatabaseOptions, OpenPlantReader } from '@plant-store/core/read';
import { exitWhenOutputCloses } from './closed-output.ts';
import type { Needs } from './database-errors.ts';
import { readSettings } from './settings.ts';

interface StoreOptions extends OpenOptions {
  /** The privileges that the command needs, for the error messages. Default: the privileges of an import. */
  needs?: Needs;
  webhooks?: WebhookSettings;
}

/**
 * Opens the store that the settings select, calls `use` with the store, and then closes the store.
 *
 * @throws CommandError when the settings are invalid, or the database cannot be opened or used
 */
export async function withStore<T>(
  use: (store: PlantStore) => Promise<T>,
  { needs = { plants: ['SELECT', 'INSERT'] }, ...options }: StoreOptions = {},
): Promise<T> {
  const { openPlantStore } = await import('@plant-store/core');
  return useOpened(
    (settings) => openPlantStore(settings, { ...options, requireConnection: true }),
    use,
    needs,
  );
}

/**
 * Opens the store that the settings select, for reads only. Unlike `withStore`, this function loads little
 * code, works on a read replica, and creates nothing.
 */
export async function withReader<T>(
  use: (reader: OpenPlantReader) => Promise<T>,
  { needs = { plants: ['SELECT'] }, ...options }: Pick<StoreOptions, 'needs' | 'onPrimary'> = {},
): Promise<T> {
  await exitWhenOutputCloses();
  const { openPlantReader } = await import('@plant-store/core/read');
  return useOpened((settings) => openPlantReader(settings, options), use, needs);
}

function useOpened<Store extends { close(): Promise<void> }, T>(
  open: (settings: DatabaseOptions) => Promise<Store>,
  use: (store: Store) => Promise<T>,
  needs: Needs,
): Promise<T> {
  return withSettings(async (settings) => {
    const store = await open(settings);
    try {
      return await use(store);
    } finally {
      await store.close();
    }
  }, needs);
}

/**
 * Calls `use` with the settings. When a password is missing, asks the user for the password, and calls `use`
 * again.
 *
 * @throws CommandError when the settings are invalid, or the database cannot be used
 */
export async function withSettings<T>(
  use: (settings: DatabaseOptions) => Promise<T>,
  needs: Needs,
): Promise<T> {
  let settings = readSettings();
  try {
    return await use(settings).catch(async (error: unknown) => {
      const { askPassword } = await import('./question.ts');
      settings = await askPassword(settings, error);
      return use(settings);
    });
  } catch (error) {
    const { toCommandError } = await import('./database-errors.ts');
    throw await toCommandError(error, { settings, needs });
  }
}
