import { describeDatabaseUrl } from '@plant-store/core/operator';
import { databaseSettings, type Env } from '../env.ts';
import { hasConsole } from '../pages/serve-console.ts';
import { curlCommand, tokenCommand } from './commands-to-paste.ts';
import type { FirstRunToken } from './first-run-token.ts';

export interface Listening {
  url: string;
  /** Why the database does not respond, and what to do. Undefined when the database responds. */
  databaseError: string | undefined;
}

interface Started extends Listening {
  metricsUrl: string | undefined;
  generated?: FirstRunToken | undefined;
}

const isWindows = process.platform === 'win32';

export function welcome(env: Env, started: Started): string {
  const { url, metricsUrl, generated } = started;
  const { DATABASE_URL: databaseUrl, PLANT_STORE_DATA_DIR: dataDirectory } = env;
  const hasToken = Boolean(generated ?? env.PLANT_STORE_TOKEN);
  return `
${stateOf(started, hasToken)}

  Console       ${hasConsole() ? consoleUrl(url, generated?.token) : 'not built: run npx -y pnpm --filter @plant-store/web build'}
  REST          ${url}/plants
  tRPC          ${url}/trpc
  Reference     ${url}/docs
  OpenAPI       ${url}/openapi.json
  Metrics       ${metricsUrl ?? 'none: set PLANT_STORE_METRICS_PORT to have them'}
  Database      ${databaseUrl ? `Postgres at ${describeDatabaseUrl(databaseUrl)}` : dataDirectory}
  Access token  ${describeToken(generated, hasToken)}
  Stop          Ctrl+C${isWindows ? '' : `, or kill ${process.pid}`}
${hasToken ? '' : tokenSection()}
Add a plant:

  ${curlCommand(url, generated?.token, isWindows)}

`;
}

function stateOf({ databaseError }: Started, hasToken: boolean): string {
  if (databaseError) {
    return `The database does not respond yet: ${databaseError}.
The server tries again by itself. Until then, each call gets 503.`;
  }
  if (!hasToken) return 'The plant store is open. Its clients need an access token.';
  return 'The plant store is open.';
}

/** The fragment of the URL contains the token, because a browser never sends the fragment. */
function consoleUrl(url: string, token: string | undefined): string {
  return token ? `${url}/#token=${token}` : `${url}/`;
}

function describeToken(generated: FirstRunToken | undefined, hasToken: boolean): string {
  if (generated) return `${generated.token} (kept in ${generated.path})`;
  if (hasToken) return 'the one in PLANT_STORE_TOKEN';
  return 'none in PLANT_STORE_TOKEN: create one with the command below';
}

function tokenSection(): string {
  const windows = isWindows ? ', with the same DATABASE_URL, then set PLANT_STORE_TOKEN to it' : '';
  return `
Create an access token${windows}:

  ${tokenCommand(databaseSettings(), isWindows)}
`;
}
