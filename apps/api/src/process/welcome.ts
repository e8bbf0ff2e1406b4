interface Welcome {
  url: string;
  /** Where the metrics are; undefined where they are not offered. */
  metricsUrl: string | undefined;
  database: string;
  /** Why the database does not answer; empty when it does. */
  unready: string;
  /** The token that this server has made, or where else there is one. */
  token: { token: string; path: string } | 'environment' | 'none';
}

/** What the server prints once it listens: where everything is, and a command to paste. */
export function welcome({ url, metricsUrl, database, unready, token }: Welcome): string {
  return `
The plant store is open.

  REST          ${url}/plants
  tRPC          ${url}/trpc
  Reference     ${url}/docs
  OpenAPI       ${url}/openapi.json
  Metrics       ${metricsUrl ?? 'none: set PLANT_STORE_METRICS_PORT to have them'}
  Database      ${database}${unready && `, which does not answer yet (${unready}): check DATABASE_URL`}
  Access token  ${describe(token)}

Add a plant:

  ${curl(url, token)}
`;
}

function describe(token: Welcome['token']): string {
  if (token === 'none') return 'none is set: start again with one in PLANT_STORE_TOKEN';
  if (token === 'environment') return 'the one in PLANT_STORE_TOKEN';
  return `${token.token} (kept in ${token.path})`;
}

function curl(url: string, token: Welcome['token']): string {
  const bearer = typeof token === 'object' ? token.token : '$PLANT_STORE_TOKEN';
  // The first id that a double cannot hold, to show that it is kept all the same.
  const plant = '{"id":9007199254740993,"name":"Monstera deliciosa","tag":"Araceae"}';
  return `curl ${url}/plants -H "Authorization: Bearer ${bearer}" -H "Content-Type: application/json" -d '${plant}'`;
}
