import { shorten } from '@plant-store/schemas';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { addVary } from './responses/negotiation.ts';

export type Cors = ReturnType<typeof cors>;

/**
 * Makes the two parts of the CORS protocol (Fetch standard), which lets pages of these origins call
 * the server.
 *
 * @fastify/cors handles OPTIONS on every path itself. For one that is not a preflight, its response
 *   breaks the contract: it has text, or 404 instead of 405.
 */
export function cors(origins: readonly string[]) {
  const logged = new Set<string>();

  return {
    /** Responds to a preflight of an allowed origin. All other requests go on. */
    respondToPreflight(request: FastifyRequest, reply: FastifyReply, next: () => void) {
      const { method, headers } = request;
      if (headers.origin === undefined) return next();
      const isPreflight = method === 'OPTIONS' && 'access-control-request-method' in headers;
      const isAllowed = origins.includes(headers.origin);
      if (!isAllowed) logOrigin(request, headers.origin);
      if (!isPreflight || !isAllowed) return next();
      reply.code(204).headers(preflightHeaders).send();
    },
    setCorsHeaders({ headers: { origin = '' } }: FastifyRequest, reply: FastifyReply): void {
      if (origins.length === 0) return; // No response depends on the origin.
      addVary(reply, 'Origin');
      if (!origins.includes(origin)) return;
      reply.headers({
        'access-control-allow-origin': origin,
        'access-control-expose-headers': exposedHeaders,
      });
    },
  };

  /** Logs each origin that is not allowed, once. */
  function logOrigin({ host, server, id: reqId }: FastifyRequest, origin: string): void {
    const isOwn = URL.canParse(origin) && new URL(origin).host === host;
    if (isOwn || logged.has(origin) || logged.size >= maxLogged) return;
    logged.add(origin);
    const message =
      'a page of another origin cannot read the responses: ' +
      'if it should, add its origin to PLANT_STORE_CORS_ORIGINS';
    server.log.warn({ reqId, origin: shorten(origin) }, message);
  }
}

/** The most origins in the log: anybody can send any origin. */
const maxLogged = 100;

/** The headers of our responses that the standard hides from pages. */
const exposedHeaders = [
  'Accept-Encoding',
  'Allow',
  'Retry-After',
  'WWW-Authenticate',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
].join(', ');

const preflightHeaders = {
  'access-control-allow-methods': 'DELETE, GET, POST',
  // The last two are tRPC's: `trpc-accept` asks for a stream, and the other names the kind of
  // client.
  'access-control-allow-headers':
    'Authorization, Content-Type, Last-Event-ID, X-Request-Id, trpc-accept, x-trpc-source',
  'access-control-max-age': '600', // In seconds.
};
