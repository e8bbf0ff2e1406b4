import { resolve } from 'node:path';
import { type DatabaseOptions, databaseUrlSyntax, parseDatabaseUrl } from '@plant-store/core/read';
import { messageOf, usageError } from './errors.ts';
import { home, readVariables } from './variables.ts';

/**
 * Reads the store's location from environment variables and the file `.env`. An empty variable counts as
 * unset.
 *
 * @throws CommandError when `.env` cannot be read or DATABASE_URL is invalid. The message does not
 *   contain the URL, because the URL may contain a password.
 */
export function readSettings(variables = readVariables()): DatabaseOptions {
  const databaseUrl = variables['DATABASE_URL'];
  if (!databaseUrl) {
    return {
      dataDirectory: resolve(variables['PLANT_STORE_DATA_DIR'] || resolve(home, '.plant-store')),
    };
  }
  try {
    parseDatabaseUrl(databaseUrl);
    return { databaseUrl };
  } catch (cause) {
    throw usageError(
      `DATABASE_URL is invalid, because ${messageOf(cause)}: set it to ${databaseUrlSyntax}, ` +
        'or unset it to use the embedded database',
    );
  }
}
