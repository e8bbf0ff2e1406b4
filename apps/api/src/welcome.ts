import { existsSync } from 'node:fs';
import { describeDatabaseUrl } from '@plant-store/core/operator';
import { builtConsole, isInRepository, type Settings } from './settings.ts';
import type { Started } from './start.ts';

/**
 * Returns the text that the program prints when it listens. Only a terminal gets the access token, because more
 * people read the log of a container than the file of the token.
 */
export function welcome(settings: Settings, started: Started, isTerminal: boolean): string {
  const { url, databaseError, metricsUrl, firstRun } = started;
  const { DATABASE_URL, PLANT_STORE_DATA_DIR, PLANT_STORE_TOKEN } = settings;
  const token = isTerminal ? firstRun?.token : undefined;
  const program = isInRepository ? 'pnpm plant-store-server' : '@plant-store/server';
  const tokenText = PLANT_STORE_TOKEN
    ? 'the one in PLANT_STORE_TOKEN'
    : `set PLANT_STORE_TOKEN to the output of npx -y ${program} token create me`;
  const path = firstRun?.path.replaceAll("'", "'\\''");
  const read = path ? `$(cat '${path}')` : `\${PLANT_STORE_TOKEN:?set it to an access token}`;
  const headers = `-H "Authorization: Bearer ${token ?? read}" -H "Content-Type: application/json"`;
  // In an object, JavaScript would round the id.
  const plant = '{"id":9007199254740993,"name":"Monstera deliciosa","tag":"Araceae"}';
  return `
${databaseError ? `The database does not respond yet: ${databaseError}.\nThe server tries again by itself. Until then, each call gets 503.` : 'The plant store is open.'}

  Console       ${existsSync(builtConsole) ? `${url}/${token ? `#token=${token}` : ''}` : 'not built: run npx -y pnpm --filter @plant-store/web build'}
  REST          ${url}/plants
  tRPC          ${url}/trpc
  MCP           ${url}/mcp
  Reference     ${url}/docs
  OpenAPI       ${url}/openapi.json
  Metrics       ${metricsUrl ?? 'none: set PLANT_STORE_METRICS_PORT to have them'}
  Database      ${DATABASE_URL ? `Postgres at ${describeDatabaseUrl(DATABASE_URL)}` : PLANT_STORE_DATA_DIR}
  Access token  ${firstRun ? `${token ?? ''} in ${firstRun.path}`.trim() : tokenText}

Add a plant:

  curl ${url}/plants ${headers} -d '${plant}'

`;
}
