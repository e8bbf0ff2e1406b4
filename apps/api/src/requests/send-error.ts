import type { FastifyReply, FastifyRequest } from 'fastify';
import { connectionOf } from '../connections/client-connections.ts';
import { errorBody, errorHeaders } from '../errors/error-response.ts';
import { toHttpError } from '../errors/http-error.ts';
import { sendJsonText } from '../responses/json-response.ts';

export function handleError(
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const error = toHttpError(thrown);
  request.server.logError(error, request);
  if (reply.getHeader('connection') === 'close') keepConnection(reply);
  reply.code(error.status).headers(errorHeaders(error));
  return sendJsonText(reply, errorBody(error, request.url));
}

/**
 * Undoes the `Connection: close` that Fastify sets for each error of a body parser. With `Connection: close`,
 * a client that still sends its body would lose this response and the responses to its later requests.
 */
function keepConnection(reply: FastifyReply): void {
  const { raw } = reply;
  const isEnding = connectionOf(raw.req.socket)?.isEnding || !raw.shouldKeepAlive;
  // Both Fastify's reply and Node's response contain this header.
  reply.removeHeader('connection');
  raw.setHeader('connection', isEnding ? 'close' : 'keep-alive');
}
