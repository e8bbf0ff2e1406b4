/**
 * Lists every error that a client can get over REST or tRPC. The field `error` of a response has the `code`:
 * the HTTP status × 100 plus a detail. `when` explains the code. With `isTemporary`, the same request may
 * succeed later. `only` lists the procedures that can have the error. Default: every procedure.
 */
export const errorCatalogue = {
  bodyNotJson: { code: 40000, when: 'the body is not JSON' },
  invalidInput: { code: 40001, when: 'the body is not a valid NewPlant' },
  malformedRequest: { code: 40002, when: 'the request is not valid HTTP or tRPC' },
  tokenMissing: { code: 40100, when: 'the request has no bearer token' },
  tokenInvalid: { code: 40101, when: 'the token is unknown, expired or revoked' },
  insufficientScope: {
    code: 40300,
    when: 'the token does not have the scope that the operation needs',
  },
  pathUnknown: { code: 40400, when: 'the path does not exist' },
  plantUnknown: {
    code: 40401,
    when: 'no plant has this id',
    only: ['getPlant', 'replacePlant', 'deletePlant'],
  },
  accessTokenUnknown: {
    code: 40402,
    when: 'no access token has this id',
    only: ['revokeAccessToken'],
  },
  webhookUnknown: {
    code: 40403,
    when: 'no webhook has this name',
    only: [
      'getWebhook',
      'updateWebhook',
      'deleteWebhook',
      'rotateWebhookSecret',
      'replayWebhook',
      'testWebhook',
    ],
  },
  methodNotAllowed: { code: 40500, when: 'the path does not support the method' },
  requestTimeout: {
    code: 40800,
    when: 'the client did not send the whole request in time',
    isTemporary: true,
  },
  // A single result of `createPlants` can also have this error, although `only` does not list `createPlants`.
  idTaken: { code: 40900, when: 'the id belongs to another plant', only: ['createPlant'] },
  webhookNameTaken: {
    code: 40901,
    when: 'the name belongs to another webhook',
    only: ['createWebhook'],
  },
  cursorExpired: {
    code: 41000,
    when: 'the feed no longer has the changes behind the cursor',
    only: ['listPlantChanges', 'plantChanges', 'createWebhook', 'replayWebhook'],
  },
  preconditionFailed: {
    code: 41200,
    when: 'If-Match: the plant has another ETag, or no plant has this id',
    only: ['replacePlant', 'deletePlant'],
  },
  bodyTooLarge: { code: 41300, when: 'the body is larger than 1 MiB or has too many values' },
  unsupportedMediaType: { code: 41500, when: 'the body is not application/json' },
  expectationFailed: {
    code: 41700,
    when: 'the server does not support the value of the Expect header',
  },
  rateLimited: {
    code: 42900,
    when: 'the client exceeded a configured rate limit',
    isTemporary: true,
  },
  headersTooLarge: { code: 43100, when: 'the request headers are too large' },
  internal: { code: 50000, when: 'the server has a bug' },
  plantRejected: {
    code: 50001,
    when: 'the database rejects, keeps or hides plants, and nothing was written',
  },
  notImplemented: {
    code: 50100,
    when: 'the server does not know the method or the transfer coding, or its database has no feed',
  },
  databaseUnavailable: {
    code: 50300,
    when: 'the database cannot be reached or did not respond in time',
    isTemporary: true,
  },
  overloaded: {
    code: 50301,
    when: 'the server is overloaded and nothing was written',
    isTemporary: true,
  },
  shuttingDown: { code: 50302, when: 'this instance is shutting down', isTemporary: true },
  identityProviderUnavailable: {
    code: 50303,
    when: 'the identity provider did not respond and nothing was written',
    isTemporary: true,
  },
} as const satisfies Record<
  string,
  { code: number; when: string; isTemporary?: true; only?: readonly string[] }
>;

/** The name of an error in the catalogue. */
export type ErrorKind = keyof typeof errorCatalogue;

export type ErrorCode = (typeof errorCatalogue)[ErrorKind]['code'];

/** The names of all errors, in the catalogue's order. */
// The type of `Object.keys` is `string[]`, because TypeScript allows further keys.
export const errorKinds = Object.keys(errorCatalogue) as ErrorKind[];

/** Finds the name of an error by its code. Returns undefined for a code that only a newer server has. */
export function errorKind(code: unknown): ErrorKind | undefined {
  return errorKinds.find((kind) => errorCatalogue[kind].code === code);
}

/** Returns the HTTP status of an error in the catalogue. */
export function httpStatus(kind: ErrorKind): number {
  return Math.floor(errorCatalogue[kind].code / 100);
}

/** Whether the same request may succeed later. Clients must not repeat a delete that may be done. */
export function isTemporary(kind: ErrorKind): boolean {
  return 'isTemporary' in errorCatalogue[kind];
}
