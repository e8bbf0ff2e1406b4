/** Describes the REST operation of a procedure. */
export interface Operation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** A name in braces is a property of the procedure's input. */
  readonly path: `/${string}`;
  /** The HTTP status of a successful response. A response with 204 has no body. */
  readonly status: 200 | 204;
}

export const operations = {
  createPlant: { method: 'POST', path: '/plants', status: 200 },
  createPlants: { method: 'POST', path: '/plants/batch', status: 200 },
  getPlant: { method: 'GET', path: '/plants/{id}', status: 200 },
  listPlants: { method: 'GET', path: '/plants', status: 200 },
  countPlants: { method: 'GET', path: '/plants/count', status: 200 },
  listPlantChanges: { method: 'GET', path: '/plants/changes', status: 200 },
  replacePlant: { method: 'PUT', path: '/plants/{id}', status: 200 },
  deletePlant: { method: 'DELETE', path: '/plants/{id}', status: 204 },
  listAccessTokens: { method: 'GET', path: '/access-tokens', status: 200 },
  createAccessToken: { method: 'POST', path: '/access-tokens', status: 200 },
  revokeAccessToken: { method: 'DELETE', path: '/access-tokens/{id}', status: 204 },
  listWebhooks: { method: 'GET', path: '/webhooks', status: 200 },
  createWebhook: { method: 'POST', path: '/webhooks', status: 200 },
  getWebhook: { method: 'GET', path: '/webhooks/{name}', status: 200 },
  updateWebhook: { method: 'PATCH', path: '/webhooks/{name}', status: 200 },
  deleteWebhook: { method: 'DELETE', path: '/webhooks/{name}', status: 204 },
  rotateWebhookSecret: { method: 'POST', path: '/webhooks/{name}/secret', status: 200 },
  replayWebhook: { method: 'POST', path: '/webhooks/{name}/replay', status: 204 },
  testWebhook: { method: 'POST', path: '/webhooks/{name}/test', status: 200 },
  whoAmI: { method: 'GET', path: '/whoami', status: 200 },
} as const satisfies Record<string, Operation>;

/** The scopes of access tokens. Each procedure names the scope that it needs. */
export const scopes = [
  'plants:create',
  'plants:read',
  'plants:update',
  'plants:delete',
  'tokens:manage',
  'webhooks:manage',
] as const;

export type Scope = (typeof scopes)[number];

/** Whether a text is the name of a scope. */
export function isScope(text: string): text is Scope {
  return scopes.some((scope) => scope === text);
}

/** The maximum and the default number of plants, tokens or webhooks in one page of a list. */
export const maxPageSize = 1000;
export const defaultPageSize = 100;

/** The maximum number of plants in one call of `createPlants`. */
export const maxNewPlants = 1000;

/** The maximum number that `countPlants` returns. When there are more plants, the count is not exact. */
export const maxExactCount = 1_000_000;

/** The maximum number of calls in one tRPC request. */
export const maxBatchCalls = 10;

/** A request may wait for changes for at most this number of seconds. */
export const maxWait = 20;

/** The maximum number of characters in the text of a search. A longer text could stop the database. */
export const maxSearch = 100;
