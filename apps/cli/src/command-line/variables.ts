import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadEnvFile } from '@plant-store/fast-start/env-file';
import { explainUnknownSettings } from '@plant-store/fast-start/setting-names';
import { messageOf, usageError } from './errors.ts';

const repositoryRoot = fileURLToPath(new URL('../../../..', import.meta.url));

/** Whether the program runs in the repository, where this file is TypeScript. The package has JavaScript. */
const isInRepository = import.meta.url.endsWith('.ts');

/** The default directory of `.env` and the embedded database. The server has the same default. */
export const home = isInRepository ? repositoryRoot : '.';

/**
 * Reads the environment variables and the file `.env`. In the repository, `.env` is in the root. An installed
 * command reads `.env` in the current directory. Warns on stderr of a variable whose name only resembles a
 * setting.
 *
 * @throws CommandError when `.env` cannot be read
 */
export function readVariables(): NodeJS.ProcessEnv {
  try {
    const variables = loadEnvFile(resolve(home, '.env'));
    for (const warning of explainUnknownSettings(variables)) {
      process.stderr.write(`plant-store: warning: ${warning}\n`);
    }
    return variables;
  } catch (cause) {
    throw usageError(messageOf(cause), { cause });
  }
}

/**
 * Reads the address of a running store, and an access token for the store. An empty variable counts as unset.
 *
 * @throws CommandError when a setting is missing or invalid. The message does not contain values, because
 *   the token is secret and the address may contain a password.
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
