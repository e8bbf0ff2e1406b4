import { shorten } from '@plant-store/schemas';
import type { FastifyReply, FastifyRequest, FastifyServerOptions } from 'fastify';
import { connectionOf } from '../connections/client-connections.ts';
import { errorBody, errorHeaders } from '../errors/error-response.ts';
import { HttpError, toHttpError } from '../errors/http-error.ts';
import { sendJsonText } from '../responses/json-response.ts';
import type { Cors } from './cors.ts';

export function handleError(
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const error = toHttpError(thrown);
  request.server.logError(error, request);
  return sendError(request, reply, error);
}

/** Makes a function that logs and sends errors of Fastify's router, because no hook runs for these errors. */
export function routerErrorHandler({
  respondToPreflight,
  setCorsHeaders,
}: Cors): NonNullable<FastifyServerOptions['frameworkErrors']> {
  return (thrown, request, reply) => {
    const { server, id, ip, url } = request;
    reply.header('x-request-id', id);
    setCorsHeaders(request, reply);
    respondToPreflight(request, reply, () => {
      const error = thrown.code === 'FST_ERR_BAD_URL' ? badPath(url) : toHttpError(thrown);
      server.logError(error, { id, ip: shorten(ip) });
      sendError(request, reply, error);
    });
  };
}

function badPath(url: string): HttpError {
  const [path = ''] = url.split('?', 1);
  return new HttpError(
    'malformedRequest',
    `the path ${shorten(path)} is not percent-encoded UTF-8`,
  );
}

function sendError({ url }: FastifyRequest, reply: FastifyReply, error: HttpError): FastifyReply {
  if (reply.getHeader('connection') === 'close') keepConnection(reply);
  reply.code(error.status).headers(errorHeaders(error));
  return sendJsonText(reply, errorBody(error, url));
}

/**
 * Undoes the `Connection: close` that Fastify sets for each error of a body parser. With `Connection: close`,
 * a client that still sends its body would lose this response and the responses to its later requests.
 */
function keepConnection(reply: FastifyReply): void {
  const { raw } = reply;
  const isEnding = connectionOf(raw.req.socket)?.isEnding || !raw.shouldKeepAlive;
  // Both Fastify and Node have set the header `Connection`.
  reply.removeHeader('connection');
  raw.setHeader('connection', isEnding ? 'close' : 'keep-alive');
}
