import type { FastifyReply, FastifyRequest } from 'fastify';
import { showText } from '../errors/http-error.ts';
import { firstTimes } from '../observability/request-log.ts';
import { addVary } from '../responses/negotiation.ts';

/**
 * Makes the two hooks of the CORS protocol (Fetch standard). Unlike `@fastify/cors`, these hooks do not
 * respond to OPTIONS requests that are not preflights.
 */
export function cors(origins: readonly string[]) {
  const isNewOrigin = firstTimes();

  return {
    /** Responds to a preflight of an allowed origin. All other requests continue. */
    respondToPreflight(request: FastifyRequest, reply: FastifyReply, next: () => void) {
      const { method, headers } = request;
      if (headers.origin === undefined) return next();
      const isPreflight = method === 'OPTIONS' && 'access-control-request-method' in headers;
      const isAllowed = origins.includes(headers.origin);
      if (!isAllowed) logOrigin(request, headers.origin);
      if (!isPreflight || !isAllowed) return next();
      reply.code(204).headers(preflightHeaders).send();
    },
    async setCorsHeaders({ headers: { origin = '' } }: FastifyRequest, reply: FastifyReply) {
      addVary(reply, 'Origin');
      if (!origins.includes(origin)) return;
      reply.headers({
        'access-control-allow-origin': origin,
        'access-control-expose-headers': exposedHeaders,
      });
    },
  };

  /** Logs an origin that is not allowed, but logs each origin only once. */
  function logOrigin({ host, server, id: reqId }: FastifyRequest, origin: string): void {
    const isOwn = URL.canParse(origin) && new URL(origin).host === host;
    if (isOwn || !isNewOrigin(origin)) return;
    const message =
      'a page of another origin cannot read the responses: ' +
      'if it should, add its origin to PLANT_STORE_CORS_ORIGINS';
    server.log.warn({ reqId, origin: showText(origin) }, message);
  }
}

/** The response headers that a web page of another origin may read. */
const exposedHeaders = [
  'Accept-Encoding',
  'Allow',
  'ETag',
  'Retry-After',
  'WWW-Authenticate',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
].join(', ');

const preflightHeaders = {
  'access-control-allow-methods': 'DELETE, GET, PATCH, POST, PUT',
  // OpenTelemetry sends `baggage` beside `traceparent`. tRPC's clients send the last two headers.
  // `trpc-accept` asks for a stream, and `x-trpc-source` names the kind of client.
  'access-control-allow-headers':
    'Authorization, Content-Type, If-Match, If-None-Match, Last-Event-ID, X-Request-Id, baggage, traceparent, tracestate, trpc-accept, x-trpc-source',
  'access-control-max-age': '600', // In seconds.
};
