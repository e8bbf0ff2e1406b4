import { curlCommand, tokenCommand } from './commands-to-paste.ts';

interface Welcome {
  url: string;
  /** Whether the server serves the console. */
  hasConsole: boolean;
  /** The code that opens the console once. It is undefined when the server generated no token. */
  signInCode: string | undefined;
  /** The address of the metrics. It is undefined when the server has no metrics. */
  metricsUrl: string | undefined;
  database: string;
  /** Why the database does not respond, and what to do. It is undefined when the database responds. */
  databaseError: string | undefined;
  /** The token that the server generated and its file, or the source of another token. */
  token: { token: string; path: string } | 'environment' | 'none';
  /** The repository. */
  root: string;
  /** The settings that another terminal needs to find the same database, without secrets. */
  settings: Record<string, string>;
}

const isWindows = process.platform === 'win32';

/**
 * Returns the text that the server prints when it listens. The text says whether the store is open or what
 * is missing, and contains its addresses and commands to paste.
 */
export function welcome(options: Welcome): string {
  const { url, hasConsole, signInCode, metricsUrl, database, token } = options;
  const generated = typeof token === 'object' ? token.token : undefined;
  return `
${stateOf(options)}

  Console       ${hasConsole ? consoleUrl(url, signInCode) : 'not built: run npx -y pnpm --filter @plant-store/web build'}
  REST          ${url}/plants
  tRPC          ${url}/trpc
  Reference     ${url}/docs
  OpenAPI       ${url}/openapi.json
  Metrics       ${metricsUrl ?? 'none: set PLANT_STORE_METRICS_PORT to have them'}
  Database      ${database}
  Access token  ${describeToken(token)}
  Stop          Ctrl+C${isWindows ? '' : `, or kill ${process.pid}`}
${token === 'none' ? tokenSection(options) : ''}
Add a plant:

  ${curlCommand(url, generated, isWindows)}

`;
}

function stateOf({ databaseError, token }: Welcome): string {
  if (databaseError) {
    return `The database does not respond yet: ${databaseError}.
The server tries again by itself. Until then, each call gets 503.`;
  }
  if (token === 'none') return 'The plant store is open. Its clients need an access token.';
  return 'The plant store is open.';
}

/** The code is in the fragment, which a browser never sends. */
function consoleUrl(url: string, code: string | undefined): string {
  return code ? `${url}/#code=${code} (once, within ten minutes)` : `${url}/`;
}

function describeToken(token: Welcome['token']): string {
  if (token === 'none') return 'none in PLANT_STORE_TOKEN: create one with the command below';
  if (token === 'environment') return 'the one in PLANT_STORE_TOKEN';
  return `${token.token} (kept in ${token.path})`;
}

function tokenSection({ root, settings }: Welcome): string {
  const windows = isWindows ? ', with the same DATABASE_URL, then set PLANT_STORE_TOKEN to it' : '';
  return `
Create an access token${windows}:

  ${tokenCommand(root, settings, isWindows)}
`;
}
