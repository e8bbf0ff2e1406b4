import { type ErrorKind, isTemporary } from './error-catalogue.ts';

/** Tells the client what to do about each error. */
const actions: Record<ErrorKind, string> = {
  bodyNotJson: 'send JSON in UTF-8',
  invalidInput: 'correct the fields or parameters that the message names',
  malformedRequest: 'correct the HTTP client or the proxy',
  tokenMissing: 'send `Authorization: Bearer <access token>`',
  tokenInvalid: 'get a new access token',
  insufficientScope: 'use a token with the scope that the message names',
  pathUnknown: 'correct the path: `/docs` lists all paths',
  plantUnknown: 'treat the plant as deleted, or correct the id',
  accessTokenUnknown: 'list the access tokens, and correct the id',
  webhookUnknown: 'list the webhooks, and correct the name',
  methodNotAllowed: 'use a method that the header `Allow` lists',
  requestTimeout: 'send the whole request within 30 seconds',
  idTaken: 'choose another id, or read the stored plant',
  webhookNameTaken: 'choose another name',
  cursorExpired:
    'take a new cursor, empty the copy, list all plants, and then read the changes behind the cursor',
  preconditionFailed:
    'read the plant again, and decide whether to repeat the request with its new ETag',
  bodyTooLarge: 'send fewer plants in one call, or shorter texts',
  unsupportedMediaType: 'send `Content-Type: application/json` and an uncompressed body',
  expectationFailed: 'send `Expect: 100-continue`, or no `Expect`',
  rateLimited: 'send fewer requests',
  headersTooLarge: 'send a shorter URL and smaller headers',
  internal: 'report the `X-Request-Id` to the operator',
  plantRejected: 'tell the operator what the message says',
  notImplemented: 'use a method of the API; without a feed, list the plants again and again',
  databaseUnavailable: 'wait: a create, a replacement or a delete may or may not be done',
  overloaded: 'send fewer requests at the same time',
  shuttingDown: 'use a new connection, which may reach another instance',
  identityProviderUnavailable: 'wait',
};

/** Says when to repeat a request. These texts replace the usual texts of `errorAdvice`. */
const repeats: Partial<Record<ErrorKind, string>> = {
  tokenMissing: 'with a token',
  tokenInvalid: 'with the new token',
  insufficientScope: 'with that token',
  requestTimeout: 'yes',
  plantRejected: 'after the operator has corrected the table',
  databaseUnavailable: 'a create or a read: yes, after `Retry-After`',
};

/** Returns the advice for clients about an error. Front ends do not need this function. */
export function errorAdvice(kind: ErrorKind) {
  const usual = isTemporary(kind) ? 'yes, after `Retry-After`' : 'no';
  return { action: actions[kind], repeat: repeats[kind] ?? usual };
}
