import type { ErrorKind } from './error-catalogue.ts';

interface Advice {
  /** The instruction for the client. */
  readonly action: string;
  /** Whether and when the client sends the request again. */
  readonly repeat: string;
}

const no = 'no';
const afterDelay = 'yes, after `Retry-After`';

/** Advice for clients about each error. It is apart from the catalogue to keep front ends small. */
export const errorAdvice: Record<ErrorKind, Advice> = {
  bodyNotJson: { action: 'send JSON in UTF-8', repeat: no },
  invalidInput: { action: 'correct the fields or parameters that the message names', repeat: no },
  malformedRequest: { action: 'correct the HTTP client or the proxy', repeat: no },
  tokenMissing: { action: 'send `Authorization: Bearer <access token>`', repeat: 'with a token' },
  tokenInvalid: { action: 'get a new access token', repeat: 'with the new token' },
  insufficientScope: {
    action: 'use a token with the scope that the message names',
    repeat: 'with that token',
  },
  pathUnknown: { action: 'correct the path: `/docs` lists all paths', repeat: no },
  plantUnknown: { action: 'treat the plant as deleted, or correct the id', repeat: no },
  methodNotAllowed: { action: 'use a method that the header `Allow` lists', repeat: no },
  requestTimeout: { action: 'send the whole request within 30 seconds', repeat: 'yes' },
  idTaken: { action: 'choose another id, or read the stored plant', repeat: no },
  cursorExpired: {
    action:
      'take a new cursor, empty the copy, list all plants, and then read the changes behind the cursor',
    repeat: no,
  },
  bodyTooLarge: { action: 'send fewer plants in one call, or shorter texts', repeat: no },
  unsupportedMediaType: {
    action: 'send `Content-Type: application/json` and an uncompressed body',
    repeat: no,
  },
  expectationFailed: { action: 'send `Expect: 100-continue`, or no `Expect`', repeat: no },
  rateLimited: { action: 'send fewer requests', repeat: afterDelay },
  headersTooLarge: { action: 'send a shorter URL and smaller headers', repeat: no },
  internal: {
    action: 'report the `X-Request-Id` to the operator',
    repeat: 'a create or a read: yes',
  },
  plantRejected: {
    action: 'tell the operator what the message says',
    repeat: 'after the operator has corrected the table',
  },
  notImplemented: {
    action: 'use GET, POST or DELETE; without a feed, list the plants again and again',
    repeat: no,
  },
  databaseUnavailable: {
    action: 'wait: a create or a delete may or may not be done',
    repeat: 'a create or a read: yes, after `Retry-After`',
  },
  overloaded: { action: 'send fewer requests at the same time', repeat: afterDelay },
  shuttingDown: {
    action: 'use a new connection, which may reach another instance',
    repeat: afterDelay,
  },
  identityProviderUnavailable: { action: 'wait', repeat: afterDelay },
};
