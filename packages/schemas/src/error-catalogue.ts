/**
 * Every error that the store can answer with, on any surface. `error` is the number in the reply:
 * HTTP status × 100 + detail. `when` says what it means; replies carry a message of their own.
 */
export const errorCatalogue = {
  bodyNotJson: { error: 40000, when: 'the body is not JSON' },
  invalidInput: { error: 40001, when: 'the body is not a NewPlant' },
  malformedRequest: { error: 40002, when: 'the request is not well-formed HTTP or tRPC' },
  tokenMissing: { error: 40100, when: 'there is no bearer token' },
  tokenInvalid: { error: 40101, when: 'the token is unknown, expired or revoked' },
  pathUnknown: { error: 40400, when: 'there is no such path' },
  methodNotAllowed: { error: 40500, when: 'the method is not offered here' },
  requestTimeout: { error: 40800, when: 'the request was not sent completely in time' },
  idTaken: { error: 40900, when: 'the id belongs to another plant' },
  bodyTooLarge: { error: 41300, when: 'the body is over 1 MiB' },
  unsupportedMediaType: { error: 41500, when: 'the body is not application/json' },
  expectationFailed: { error: 41700, when: 'the Expect header asks for what is not offered' },
  rateLimited: { error: 42900, when: 'a configured rate limit was reached' },
  headersTooLarge: { error: 43100, when: 'the request headers are too large' },
  internal: { error: 50000, when: 'the server has a bug' },
  databaseUnavailable: {
    error: 50300,
    when: 'the database cannot be reached or did not answer in time',
  },
  overloaded: { error: 50301, when: 'the server is overloaded and nothing was written' },
  shuttingDown: { error: 50302, when: 'this instance is shutting down' },
  identityProviderUnavailable: {
    error: 50303,
    when: 'the identity provider did not answer and nothing was written',
  },
} as const satisfies Record<string, { error: number; when: string }>;

/** The name of an error in the catalogue. */
export type ErrorKind = keyof typeof errorCatalogue;

/** The number of an error in the catalogue. */
export type ErrorNumber = (typeof errorCatalogue)[ErrorKind]['error'];

/** The HTTP status of an error in the catalogue. */
export function httpStatus(kind: ErrorKind): number {
  return Math.floor(errorCatalogue[kind].error / 100);
}
