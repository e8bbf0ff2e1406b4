import type { FastifyReply, FastifyRequest, FastifyServerOptions } from 'fastify';
import { errorHeaders } from '../errors/error-headers.ts';
import { type HttpError, toHttpError } from '../errors/http-error.ts';
import { sendJson } from './json-reply.ts';

/** Logs anything thrown on the way of a request and sends it in the contract's shape. */
export function handleError(
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const error = toHttpError(thrown);
  request.server.logError(error, request);
  return sendError(reply, error);
}

/** Does the same for an error of Fastify's router, for which no hook runs. */
export const handleRouterError: NonNullable<FastifyServerOptions['frameworkErrors']> = (
  thrown,
  { server, id, ip },
  reply,
) => {
  const error = toHttpError(thrown);
  server.logError(error, { id, ip });
  sendError(reply.header('x-request-id', id), error);
};

/** Sends an error in the contract's shape. */
function sendError(reply: FastifyReply, error: HttpError): FastifyReply {
  const { code, message } = error;
  return sendJson(setErrorHeaders(reply, error), { error: code, message });
}

/** Sets the status and the headers of an error reply, on either surface. */
export function setErrorHeaders(reply: FastifyReply, error: HttpError): FastifyReply {
  // Fastify would close the connection while the client still sends, and the reply would be lost.
  if (error.kind === 'bodyTooLarge') reply.removeHeader('connection');
  return reply.code(error.status).headers(errorHeaders(error));
}
