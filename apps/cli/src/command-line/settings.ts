import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { citus } from '@plant-store/citus';
import { type DatabaseOptions, databaseUrlSyntax, parseDatabaseUrl } from '@plant-store/core/read';
import { loadEnvFile } from '@plant-store/fast-start/env-file';
import { explainUnknownSettings } from '@plant-store/fast-start/setting-names';
import { usageError } from './errors.ts';

const repositoryRoot = fileURLToPath(new URL('../../../..', import.meta.url));

/** Whether this runs in the repository: there this file is TypeScript, in the package it is JavaScript. */
const isInRepository = import.meta.url.endsWith('.ts');

/** The default directory of `.env` and the embedded database: in the repository, the same as the server's. */
const home = isInRepository ? repositoryRoot : '.';

/**
 * Reads where the store is from the server's settings: environment variables and the file `.env` at
 * the repository root, or in the current directory when the command line is installed as a package.
 * An empty variable counts as unset. A variable that looks like a setting but is not one gets a warning on
 * stderr.
 *
 * @throws CommandError when `.env` cannot be read or DATABASE_URL is invalid. The message does not
 *   contain the URL: it may hold a password.
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
