import type { FastifyInstance } from 'fastify';

/**
 * Lets pages of these origins call the server (the CORS protocol of the Fetch standard).
 *
 * Not by @fastify/cors: it takes OPTIONS on every path for itself, so that one that is no preflight
 * is answered outside of the contract, with text or with 404 where 405 is due.
 */
export function allowOrigins(server: FastifyInstance, origins: readonly string[]): void {
  // Ahead of all that may refuse the request: a preflight carries no token.
  server.addHook('onRequest', async (request, reply) => {
    const { origin = '', 'access-control-request-method': asked } = request.headers;
    const isPreflight = request.method === 'OPTIONS' && asked !== undefined;
    if (!isPreflight || !origins.includes(origin)) return;
    return reply.code(204).headers(preflightHeaders).send();
  });
  server.addHook('onSend', async ({ headers: { origin = '' } }, reply) => {
    reply.header('vary', [reply.getHeader('vary') ?? [], 'Origin'].flat().join(', '));
    if (!origins.includes(origin)) return;
    reply.headers({
      'access-control-allow-origin': origin,
      'access-control-expose-headers': 'Allow, Retry-After, WWW-Authenticate, X-Request-Id',
    });
  });
}

const preflightHeaders = {
  'access-control-allow-methods': 'GET, POST',
  'access-control-allow-headers': 'Authorization, Content-Type, X-Request-Id',
  'access-control-max-age': '600', // Seconds.
};
