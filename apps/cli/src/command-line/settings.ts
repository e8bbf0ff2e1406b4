import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { citus } from '@plant-store/citus';
import { type DatabaseOptions, databaseUrlSyntax, parseDatabaseUrl } from '@plant-store/core/read';
import { loadEnvFile } from '@plant-store/fast-start/env-file';
import { explainUnknownSettings } from '@plant-store/fast-start/setting-names';
import { usageError } from './errors.ts';

const repositoryRoot = fileURLToPath(new URL('../../../..', import.meta.url));

/** Whether this runs in the repository. This file is TypeScript there, and JavaScript in the package. */
const isInRepository = import.meta.url.endsWith('.ts');

/** The default directory of `.env` and the embedded database. In the repository, the server has the same. */
const home = isInRepository ? repositoryRoot : '.';

/**
 * Reads the store's location from environment variables and the file `.env`. That file is at the repository
 * root, or in the current directory when the command line is an installed package. An empty variable
 * counts as unset. Warns on stderr of a variable that looks like a setting but is not one.
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
