import type { FastifyInstance } from 'fastify';
import { HttpError } from '../errors/http-error.ts';
import { sendJson } from '../responses/json-response.ts';

/** Serves `/livez` and `/readyz`. */
export function health(server: FastifyInstance): void {
  server.get('/livez', (_request, reply) => sendJson(reply, { status: 'alive' }));
  server.get('/readyz', async (_request, reply) => {
    if (server.isClosing)
      throw new HttpError('shuttingDown', 'this instance is shutting down: use another one');
    await server.store.ready();
    return sendJson(reply, { status: 'ready' });
  });
}
