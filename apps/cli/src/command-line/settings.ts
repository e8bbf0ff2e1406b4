import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PlantStoreOptions } from '@plant-store/core';
import { usageFailure } from './errors.ts';

const repositoryRoot = fileURLToPath(new URL('../../../..', import.meta.url));

/**
 * Where the store is, from the same environment variables as the server's; one that is empty counts
 * as unset.
 *
 * @throws CommandFailure that says which is wrong; the URL may hold a password and is not shown.
 */
export function readSettings(variables: NodeJS.ProcessEnv = process.env): PlantStoreOptions {
  const databaseUrl = variables['DATABASE_URL'];
  if (!databaseUrl) {
    const directory = variables['PLANT_STORE_DATA_DIR'] || resolve(repositoryRoot, '.plant-store');
    return { dataDirectory: resolve(directory) };
  }
  if (!/^postgres(ql)?:\/\/./.test(databaseUrl)) {
    throw usageFailure(
      'DATABASE_URL is not valid: set postgres://user:password@host:port/database, ' +
        'or leave it out for the embedded database',
    );
  }
  return { databaseUrl };
}
