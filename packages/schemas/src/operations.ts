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
