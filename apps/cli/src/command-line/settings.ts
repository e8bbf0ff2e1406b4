import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { citus } from '@plant-store/citus';
import { type DatabaseOptions, databaseUrlSyntax, parseDatabaseUrl } from '@plant-store/core/read';
import { loadEnvFile } from '@plant-store/fast-start/env-file';
import { explainUnknownSettings } from '@plant-store/fast-start/setting-names';
import { usageError } from './errors.ts';

const repositoryRoot = fileURLToPath(new URL('../../../..', import.meta.url));

/** Whether the program runs in the repository. In the package, this file is JavaScript. */
const isInRepository = import.meta.url.endsWith('.ts');

/** The default directory of `.env` and the embedded database. The server has the same default. */
export const home = isInRepository ? repositoryRoot : '.';

/**
 * Reads the store's location from environment variables and the file `.env`. In the repository, `.env` is in
 * the root. An installed command reads `.env` in the current directory. An empty variable counts as unset.
 * Warns on stderr of a variable that only looks like a setting.
 *
 * @throws CommandError when `.env` cannot be read or DATABASE_URL is invalid. The message does not
 *   contain the URL, which may hold a password.
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
    return { databaseUrl, cluster: citus };
  } catch (cause) {
    throw usageError(
      `DATABASE_URL is invalid, because ${messageOf(cause)}: set it to ${databaseUrlSyntax}, ` +
        'or unset it to use the embedded database',
    );
  }
}

function readVariables(): NodeJS.ProcessEnv {
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

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
