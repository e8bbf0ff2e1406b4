import { usageError } from './errors.ts';
import { readVariables } from './variables.ts';

/**
 * Reads the address of a running store, and an access token of this store. An empty variable counts as unset.
 *
 * @throws CommandError when a setting is missing or invalid. The message does not contain the values, which
 *   are secret or may hold a password.
 */
export function readServerSettings(variables = readVariables()): { url: string; token: string } {
  const url = variables['PLANT_STORE_URL'] || 'http://127.0.0.1:3000';
  const token = variables['PLANT_STORE_TOKEN'];
  if (!URL.canParse(url) || !/^https?:\/\/[^@?#]+$/.test(url)) {
    throw usageError(
      'PLANT_STORE_URL is invalid: set it to the address of the store, such as http://127.0.0.1:3000',
    );
  }
  if (token) return { url, token };
  throw usageError(
    'PLANT_STORE_TOKEN is not set: set it to an access token of the store. ' +
      '`plant-store token create assistant --scopes read` creates one that can only read',
  );
}
