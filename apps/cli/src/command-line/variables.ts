import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadEnvFile } from '@plant-store/fast-start/env-file';
import { explainUnknownSettings } from '@plant-store/fast-start/setting-names';
import { usageError } from './errors.ts';

const repositoryRoot = fileURLToPath(new URL('../../../..', import.meta.url));

/** Whether the program runs in the repository. In the package, this file is JavaScript. */
const isInRepository = import.meta.url.endsWith('.ts');

/** The default directory of `.env` and the embedded database. The server has the same default. */
export const home = isInRepository ? repositoryRoot : '.';

/**
 * Reads the environment variables and the file `.env`. In the repository, `.env` is in the root. An installed
 * command reads `.env` in the current directory. Warns on stderr of a variable that only looks like a setting.
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

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
