/**
 * Lists every error that a client can get. The field `error` of a REST response has the `code`: the HTTP
 * status × 100 plus a serial number. `when` explains the code, and `advice` tells the client what to do. `only`
 * lists the REST operations that can have the error. Default: every operation.
 */
export const errorCatalogue = {
  bodyNotJson: {
    code: 40000,
    when: 'the body is not JSON, or the bytes are not HTTP',
    advice: 'send JSON in UTF-8, by a client that sends HTTP/1.1',
  },
  invalidInput: {
    code: 40001,
    when: 'the body or a parameter is not valid',
    advice: 'correct the fields or parameters that the message names',
  },
  malformedRequest: {
    code: 40002,
    when: 'the request is not valid tRPC, or its path or query is not valid',
    advice: 'correct the part that the message names',
  },
  tokenMissing: {
    code: 40100,
    when: 'the request has no bearer token',
    advice: 'send `Authorization: Bearer <access token>`',
  },
  tokenInvalid: {
    code: 40101,
    when: 'the token is unknown, expired or revoked',
    advice: 'get a new access token',
  },
  insufficientScope: {
    code: 40300,
    when: 'the token does not have the scope that the operation needs',
    advice: 'use a token with the scope that the message names',
  },
  pathUnknown: {
    code: 40400,
    when: 'the path does not exist',
    advice: "correct the path: `/docs` lists the API's paths",
  },
  plantUnknown: {
    code: 40401,
    when: 'no plant has this id',
    advice: 'treat the plant as deleted, or correct the id',
    only: ['getPlant', 'replacePlant', 'deletePlant'],
  },
  accessTokenUnknown: {
    code: 40402,
    when: 'no access token has this id',
    advice: 'list the access tokens, and correct the id',
    only: ['revokeAccessToken'],
  },
  webhookUnknown: {
    code: 40403,
    when: 'no webhook has this name',
    advice: 'list the webhooks, and correct the name',
    only: [
      'getWebhook',
      'updateWebhook',
      'deleteWebhook',
      'rotateWebhookSecret',
      'replayWebhook',
      'testWebhook',
    ],
  },
  methodNotAllowed: {
    code: 40500,
    when: 'the path does not support the method',
    advice: 'use a method that the header `Allow` lists',
  },
  requestTimeout: {
    code: 40800,
    when: 'the client did not send the whole request in time',
    advice: 'send the whole request within 30 seconds',
  },
  // A single result of `createPlants` can also have this error, although `only` does not list `createPlants`.
  idTaken: {
    code: 40900,
    when: 'the id belongs to another plant',
    advice: 'choose another id, or read the stored plant',
    only: ['createPlant'],
  },
  webhookNameTaken: {
    code: 40901,
    when: 'the name belongs to another webhook',
    advice: 'choose another name',
    only: ['createWebhook'],
  },
  cursorExpired: {
    code: 41000,
    when: 'the feed no longer has the changes after the cursor',
    advice:
      'take a new cursor, empty the copy, list all plants, and then read the changes after the cursor',
    only: ['listPlantChanges', 'createWebhook', 'replayWebhook'],
  },
  preconditionFailed: {
    code: 41200,
    when: 'the plant does not have the ETag in `If-Match`, or no plant has this id',
    advice: 'read the plant again, and decide whether to repeat the request with the new ETag',
    only: ['replacePlant', 'deletePlant'],
  },
  bodyTooLarge: {
    code: 41300,
    when: 'the body is larger than 1 MiB or has too many values',
    advice: 'send fewer plants in one call, or shorter texts',
  },
  unsupportedMediaType: {
    code: 41500,
    when: 'the body is not application/json',
    advice: 'send `Content-Type: application/json` and an uncompressed body',
  },
  expectationFailed: {
    code: 41700,
    when: 'the server does not support the value of the Expect header',
    advice: 'send `Expect: 100-continue`, or no `Expect`',
  },
  rateLimited: {
    code: 42900,
    when: 'the client exceeded a configured rate limit',
    advice: 'send fewer requests',
  },
  headersTooLarge: {
    code: 43100,
    when: 'the request headers are too large',
    advice: 'send a shorter URL and smaller headers',
  },
  internal: {
    code: 50000,
    when: 'the server has a bug',
    advice: 'report the `X-Request-Id` to the operator',
  },
  plantRejected: {
    code: 50001,
    when: 'a constraint, trigger, rule or policy of the database stops the request, and nothing was written',
    advice: 'send the message to the operator',
  },
  notImplemented: {
    code: 50100,
    when: 'the database is a read replica, which has no feed',
    advice: 'use the primary, or list the plants regularly',
  },
  databaseUnavailable: {
    code: 50300,
    when: 'the database cannot be reached or did not respond in time',
    advice:
      'repeat a create or a read. A replacement or a delete may have succeeded: read the plant first',
  },
  overloaded: {
    code: 50301,
    when: 'the server is overloaded and nothing was written',
    advice: 'send fewer requests at the same time',
  },
  shuttingDown: {
    code: 50302,
    when: 'this instance is shutting down',
    advice: 'use a new connection, which may reach another instance',
  },
  identityProviderUnavailable: {
    code: 50303,
    when: 'the identity provider did not respond and nothing was written',
    advice: 'wait, and repeat the request',
  },
} as const satisfies Record<string, Entry>;

type Entry = { code: number; when: string; advice: string; only?: readonly string[] };

/** The name of an error in the catalogue. */
export type ErrorKind = keyof typeof errorCatalogue;

/** The names of all errors, in the catalogue's order. */
// `Object.keys` returns `string[]`, because the type of an object allows further keys.
export const errorKinds = Object.keys(errorCatalogue) as ErrorKind[];

/** Finds the name of an error by its code. Returns undefined for a code that a newer server has added. */
export function errorKind(code: unknown): ErrorKind | undefined {
  return errorKinds.find((kind) => errorCatalogue[kind].code === code);
}

/** Returns the HTTP status of an error in the catalogue. */
export function httpStatus(kind: ErrorKind): number {
  return Math.floor(errorCatalogue[kind].code / 100);
}

/**
 * Whether the same request may succeed later, according to the HTTP status in an error code. Proxies send 502
 * and 504. Even after a temporary error, clients must not repeat a delete that may already be done.
 */
export function isTemporary(code: number): boolean {
  return [408, 429, 502, 503, 504].includes(Math.floor(code / 100));
}

/**
 * Shortens a text from a client for a message or a log line. Adds the length of the whole text. A long text
 * could fill the log, or make a regular expression so slow that it blocks the process.
 */
export function shorten(text: string, maxLength = 200): string {
  if (text.length <= maxLength) return text;
  return `${text.slice(0, maxLength).toWellFormed()}… (${text.length} characters)`;
}
