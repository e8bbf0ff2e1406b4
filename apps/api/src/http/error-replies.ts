import { PlantStoreError, toPlantStoreError } from '@plant-store/core';
import type { ErrorKind } from '@plant-store/schemas';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { logFailures } from '../observability/error-log.ts';
import { sendJson } from './json-reply.ts';

/** Answers everything that is thrown, and every path and method that no route offers. */
export function handleErrors(
  server: FastifyInstance,
  paths = 'see /docs for those there are',
): void {
  logFailures(server);
  const methodsByPath = new Map<string, Set<string>>();
  server.addHook('onRoute', ({ url, method }) => {
    const methods = methodsByPath.get(url) ?? new Set();
    for (const each of [method].flat()) methods.add(each);
    methodsByPath.set(url, methods);
  });

  server.setErrorHandler<Error>((error, request, reply) => {
    const failure = toReplyError(error);
    server.logFailure(failure, request);
    return sendError(reply, failure);
  });

  // In a hook, so that no body is read; the handler itself is never reached.
  server.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done();
    const path = pathOf(request);
    const within = (url: string) => url.endsWith('*') && path.startsWith(url.slice(0, -1));
    const [, methods] = [...methodsByPath].find(([url]) => url === path || within(url)) ?? [];
    if (!methods) {
      throw new PlantStoreError('pathUnknown', `there is no path ${path}: ${paths}`);
    }
    const allow = [...methods].join(', ');
    reply.header('allow', allow);
    throw new PlantStoreError('methodNotAllowed', `${path} takes ${allow}, not ${request.method}`);
  });
}

/** Sends an error in the contract's shape. */
export function sendError(reply: FastifyReply, failure: PlantStoreError): FastifyReply {
  const { error, message } = failure;
  return sendJson(headError(reply, failure), { error, message });
}

/** Sets the status and the headers of an error, on either surface. */
export function headError(reply: FastifyReply, failure: PlantStoreError): FastifyReply {
  // Fastify would close the connection while the client is still sending, and the reply be lost.
  if (failure.kind === 'bodyTooLarge') reply.removeHeader('connection');
  return reply.code(failure.status).headers(errorHeaders(failure));
}

/** The headers that go with an error, on either surface. */
export function errorHeaders({ kind }: PlantStoreError): Record<string, string> {
  return headersByKind[kind] ?? {};
}

const retrySoon = { 'retry-after': '1' };

const headersByKind: Partial<Record<ErrorKind, Record<string, string>>> = {
  tokenMissing: { 'www-authenticate': 'Bearer realm="plant-store"' },
  tokenInvalid: { 'www-authenticate': 'Bearer realm="plant-store", error="invalid_token"' },
  databaseUnavailable: retrySoon,
  identityProviderUnavailable: retrySoon,
  overloaded: retrySoon,
  shuttingDown: retrySoon,
};

/** Makes anything thrown on the way through Fastify into an error of the catalogue. */
export function toReplyError(error: Error): PlantStoreError {
  const { code, statusCode = 500 } = error as Partial<FastifyError>; // Fastify's, where it has a code.
  const kind = code && kindByCode[code];
  if (kind) return new PlantStoreError(kind, error.message, { cause: error });
  if (code?.startsWith('FST_') && statusCode < 500) {
    return new PlantStoreError('malformedRequest', error.message, { cause: error });
  }
  return toPlantStoreError(error);
}

const kindByCode: Record<string, ErrorKind> = {
  ECONNRESET: 'malformedRequest', // The client left before it had sent the whole body.
  FST_ERR_CTP_BODY_TOO_LARGE: 'bodyTooLarge',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupportedMediaType',
};

function pathOf(request: FastifyRequest): string {
  const [path = '/'] = request.url.split('?', 1);
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
