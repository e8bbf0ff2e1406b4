import type { ErrorKind } from '@plant-store/schemas';

/** Each error has an example of the server's exact message. A test provokes each error. */
export const errorExamples: Record<ErrorKind, string> = {
  bodyNotJson: 'the body is not JSON (it is empty): send one JSON value',
  invalidInput:
    'invalid input: id must be an integer from -9223372036854775808 to 9223372036854775807; ' +
    'name is missing: it must be a string',
  malformedRequest: 'there is more than one Authorization header: send one',
  tokenMissing: 'there is no bearer token: send the header Authorization: Bearer <access token>',
  tokenInvalid: 'the access token is unknown, expired or revoked: ask the operator for a new one',
  insufficientScope: 'the access token lacks the scope plants:delete: use a token that has it',
  pathUnknown: 'there is no path /plant: the API reference (docs) lists the paths of this service',
  plantUnknown: 'no plant has the id 404: check the id',
  accessTokenUnknown: 'no access token has the id 5f70bf18a0860070: check the id',
  webhookUnknown: 'no webhook has the name "partner": list the webhooks',
  methodNotAllowed: '/plants takes GET, HEAD, POST, not PUT',
  requestTimeout: 'the request was not sent completely in time: send it again',
  idTaken: 'id 1 belongs to another plant: choose an id that is free',
  webhookNameTaken: 'the name "partner" belongs to another webhook: choose another name',
  preconditionFailed: 'the plant 1 has changed or was deleted since you read it: read it again',
  cursorExpired: 'the database was replaced: empty your copy, and list the plants again',
  bodyTooLarge: 'the body is over 1048576 bytes: send a smaller one',
  unsupportedMediaType: 'Content-Type is text/plain: send application/json',
  expectationFailed: 'only Expect: 100-continue is supported: send no other value',
  rateLimited: 'over 2 requests a minute: try again in 60 seconds',
  headersTooLarge: 'the request headers are over 16 KiB: send fewer or shorter ones',
  internal:
    'internal error: tell the operator the X-Request-Id of this response, under which the log has the cause',
  plantRejected:
    'the database does not allow this (SQLSTATE 23514): nothing was written, tell the operator before you send it again',
  notImplemented: 'there is no method BREW here: send GET, POST or DELETE',
  databaseUnavailable: 'the database did not respond: the plant may still be stored, send it again',
  overloaded: '10000 creates are waiting already: nothing was written, send the plant again later',
  shuttingDown: 'the store is closing: nothing was written, send the plant again later',
  identityProviderUnavailable: 'the identity provider did not respond: try again',
};
