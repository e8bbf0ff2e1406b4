import { curlCommand } from './curl-command.ts';

interface Welcome {
  url: string;
  /** Whether the server serves the console. */
  hasConsole: boolean;
  /** Undefined when there are no metrics. */
  metricsUrl: string | undefined;
  database: string;
  /** Why the database does not answer; undefined when it does. */
  databaseError: string | undefined;
  /** The token that the server generated and its file; otherwise where the token comes from. */
  token: { token: string; path: string } | 'environment' | 'none';
}

/** What the server prints once it listens: its addresses, and a command to paste. */
export function welcome({
  url,
  hasConsole,
  metricsUrl,
  database,
  databaseError,
  token,
}: Welcome): string {
  const unavailable = databaseError
    ? `, which does not answer yet (${databaseError}): check DATABASE_URL`
    : '';
  const generated = typeof token === 'object' ? token.token : undefined;
  const command = curlCommand(url, generated, process.platform === 'win32');
  return `
The plant store is open.

  Console       ${hasConsole ? consoleUrl(url, token) : 'not built: run npx -y pnpm --filter @plant-store/web build'}
  REST          ${url}/plants
  tRPC          ${url}/trpc
  Reference     ${url}/docs
  OpenAPI       ${url}/openapi.json
  Metrics       ${metricsUrl ?? 'none: set PLANT_STORE_METRICS_PORT to have them'}
  Database      ${database}${unavailable}
  Access token  ${describeToken(token)}

Add a plant:

  ${command}

`;
}

/** The token is in the fragment, which a browser never sends. */
function consoleUrl(url: string, token: Welcome['token']): string {
  return typeof token === 'object' ? `${url}/#token=${token.token}` : `${url}/`;
}

function describeToken(token: Welcome['token']): string {
  if (token === 'none') return 'none is set: start again with one in PLANT_STORE_TOKEN';
  if (token === 'environment') return 'the one in PLANT_STORE_TOKEN';
  return `${token.token} (kept in ${token.path})`;
}
