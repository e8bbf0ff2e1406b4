interface Welcome {
  url: string;
  /** The token that this server has made, where it has. */
  token: { token: string; path: string } | undefined;
  database: string;
}

/** What the server prints once it listens: where everything is, and a command to paste. */
export function welcome({ url, token, database }: Welcome): string {
  // The first id that a double cannot hold, to show that it is kept all the same.
  const plant = '{"id":9007199254740993,"name":"Monstera deliciosa","tag":"Araceae"}';
  const bearer = token?.token ?? '$PLANT_STORE_TOKEN';
  return `
The plant store is open.

  REST          ${url}/plants
  tRPC          ${url}/trpc
  Reference     ${url}/docs
  OpenAPI       ${url}/openapi.json
  Database      ${database}
  Access token  ${token ? `${token.token} (kept in ${token.path})` : 'the one in PLANT_STORE_TOKEN'}

Add a plant:

  curl ${url}/plants -H "Authorization: Bearer ${bearer}" -H "Content-Type: application/json" -d '${plant}'
`;
}
