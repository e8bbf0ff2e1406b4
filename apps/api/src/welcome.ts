import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describeDatabaseUrl } from '@plant-store/core/operator';
import { builtConsole, isInRepository, repositoryRoot, type Settings } from './settings.ts';
import type { FirstRunToken } from './start.ts';

interface Started {
  readonly url: string;
  readonly databaseError: string | undefined;
  readonly metricsUrl: string | undefined;
  readonly firstRun: FirstRunToken | undefined;
}

const isWindows = process.platform === 'win32';

/**
 * Returns the text that the program prints when it listens. Only a terminal gets the access token: other places,
 * such as the log of a container, are read by more people than its file.
 */
export function welcome(settings: Settings, started: Started, isTerminal: boolean): string {
  const { url, databaseError, metricsUrl, firstRun } = started;
  const { DATABASE_URL, PLANT_STORE_DATA_DIR, PLANT_STORE_TOKEN } = settings;
  const token = isTerminal ? firstRun?.token : undefined;
  const state = databaseError
    ? `The database does not respond yet: ${databaseError}.\nThe server tries again by itself. Until then, each call gets 503.`
    : 'The plant store is open.';
  const tokenText = firstRun
    ? `${token ? `${token}, kept ` : ''}in ${firstRun.path}`
    : `the one in PLANT_STORE_TOKEN${PLANT_STORE_TOKEN ? '' : `. Create it: ${tokenCommand()}`}`;
  // A browser never sends the fragment of a URL, so no log has this token.
  const consoleUrl = `${url}/${token ? `#token=${token}` : ''}`;
  return `
${state}

  Console       ${existsSync(builtConsole) ? consoleUrl : 'not built: run npx -y pnpm --filter @plant-store/web build'}
  REST          ${url}/plants
  tRPC          ${url}/trpc
  MCP           ${url}/mcp
  Reference     ${url}/docs
  OpenAPI       ${url}/openapi.json
  Metrics       ${metricsUrl ?? 'none: set PLANT_STORE_METRICS_PORT to have them'}
  Database      ${DATABASE_URL ? `Postgres at ${describeDatabaseUrl(DATABASE_URL)}` : PLANT_STORE_DATA_DIR}
  Access token  ${tokenText}

Add a plant:

  ${curlCommand(`${url}/plants`, token, firstRun?.path)}

`;
}

/** A command that creates an access token, with the settings of this server. */
function tokenCommand(): string {
  const root = isWindows ? `"${repositoryRoot}"` : quote(repositoryRoot);
  const program = isInRepository ? `pnpm -C ${root} plant-store-server` : '@plant-store/server';
  const create = `npx -y ${program} token create me`;
  return isWindows ? create : `export PLANT_STORE_TOKEN="$(${create})"`;
}

/** A command that adds a plant: for cmd and PowerShell on Windows, and else for a POSIX shell. */
function curlCommand(address: string, token: string | undefined, path: string | undefined): string {
  const type = '-H "Content-Type: application/json"';
  if (!isWindows) {
    const read = path
      ? `$(cat ${quote(path)})`
      : `\${PLANT_STORE_TOKEN:?set it to an access token}`;
    // JavaScript rounds this id.
    const plant = '{"id":9007199254740993,"name":"Monstera deliciosa","tag":"Araceae"}';
    return `curl ${address} -H "Authorization: Bearer ${token ?? read}" ${type} -d '${plant}'`;
  }
  // cmd and PowerShell differ in quotes and variables, so curl itself reads the plant and the token.
  const [variable, name] = path
    ? [`"token@${path}"`, 'token:trim']
    : ['%PLANT_STORE_TOKEN', 'PLANT_STORE_TOKEN'];
  const bearer = token
    ? `-H "Authorization: Bearer ${token}"`
    : `--variable ${variable} --expand-header "Authorization: Bearer {{${name}}}"`;
  const plant = isInRepository
    ? join(repositoryRoot, 'examples/plant.json')
    : join(import.meta.dirname, 'plant.json');
  return `curl.exe ${address} ${bearer} ${type} -d "@${plant}"`; // In PowerShell, `curl` is another command.
}

function quote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
