import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { PlantStoreError } from '@plant-store/core';
import { toStoreError } from '@plant-store/core/router';
import {
  type ErrorKind,
  errorCatalogue,
  errorKind,
  httpStatus,
  shorten,
} from '@plant-store/schemas';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { hideTokens } from '../observability/log.ts';

/** Caches must not store a JSON response, and browsers must not guess its type. */
export const jsonHeaders = {
  'content-type': 'application/json',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
};

/** The error handler of REST, and of all paths that belong to no other surface. */
export function sendError(thrown: unknown, _request: FastifyRequest, reply: FastifyReply) {
  const error = prepareError(thrown, reply);
  return reply.headers(jsonHeaders).serializer(String).send(errorBody(error));
}

/** Logs an error and sets the status and the headers of its response. The caller writes the body. */
export function prepareError(thrown: unknown, reply: FastifyReply): PlantStoreError {
  const error = toHttpError(thrown);
  reply.server.logError(error, reply.request);
  // Fastify closes the connection after each error of a body parser. On an open connection, Node drops the rest of
  // the body, and a client that still sends its body can read the response.
  reply.removeHeader('connection');
  reply.code(httpStatus(error.kind)).headers(errorHeaders(error));
  return error;
}

/** Turns any thrown value, even an error of Fastify, into an error of the catalogue. */
export function toHttpError(thrown: unknown): PlantStoreError {
  return frameworkError(thrown) ?? toStoreError(thrown);
}

/** Makes the store's error for a client error of Fastify: the error code is the HTTP status × 100. */
function frameworkError(thrown: unknown): PlantStoreError | undefined {
  if (!(thrown instanceof Error)) return undefined;
  const { statusCode = 500 } = thrown as Partial<FastifyError>;
  const kind = statusCode < 500 ? errorKind(statusCode * 100) : undefined;
  return kind && new PlantStoreError(kind, explain(kind), { cause: thrown });
}

function explain(kind: ErrorKind): string {
  const { when, advice } = errorCatalogue[kind];
  return `${when}: ${advice}`;
}

/** Returns the message of an error without tokens, because the message may repeat the client's text. */
export function messageOf({ message }: { message: string }): string {
  return hideTokens(shorten(message, 4_000));
}

function errorBody(error: PlantStoreError): string {
  return JSON.stringify({ error: error.code, message: messageOf(error) });
}

/** Returns the headers that the kind of an error adds to its response, over every surface. */
export function errorHeaders({ kind, requiredScope }: PlantStoreError): Record<string, string> {
  if (httpStatus(kind) === 503) return { 'retry-after': '1' };
  const reason = challenges[kind];
  if (reason === undefined) return {};
  const scope = requiredScope ? `, scope="${requiredScope}"` : '';
  return { 'www-authenticate': `Bearer realm="plant-store"${reason}${scope}` };
}

/** The attribute `error` of `WWW-Authenticate`, for each error whose response has this header (RFC 6750 §3.1). */
const challenges: Partial<Record<ErrorKind, string>> = {
  tokenMissing: '',
  tokenInvalid: ', error="invalid_token"',
  insufficientScope: ', error="insufficient_scope"',
};

/**
 * Responds when Node's parser rejects the bytes of a client, or when a request does not arrive in time. If the
 * response has begun, the handler only closes the connection.
 */
export function clientErrorHandler(
  this: FastifyInstance,
  { code = '' }: NodeJS.ErrnoException,
  socket: Socket & { _httpMessage?: ServerResponse }, // Node's own handler reads this property too.
): void {
  const { _httpMessage: current } = socket;
  // The wrong bytes came after a complete request, which still gets its response.
  if (current?.req.complete) return void current.once('finish', () => socket.destroySoon());
  if (socket.writable && !current?.headersSent) {
    const id = randomUUID();
    const kind = nodeErrors[code] ?? 'bodyNotJson';
    const error = new PlantStoreError(kind, explain(kind));
    this.logError(error, { id, ip: socket.remoteAddress });
    const body = errorBody(error);
    const length = Buffer.byteLength(body);
    const own = { 'x-request-id': id, 'content-length': length, connection: 'close' };
    const headers = Object.entries({ ...jsonHeaders, ...own }).map((each) => each.join(': '));
    socket.write(`HTTP/1.1 ${httpStatus(kind)} Error\r\n${headers.join('\r\n')}\r\n\r\n${body}`);
  }
  socket.destroySoon();
}

/** Any other error of Node gets the status 400 and the code 40000. */
const nodeErrors: Record<string, ErrorKind> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'requestTimeout',
  HPE_HEADER_OVERFLOW: 'headersTooLarge',
};
