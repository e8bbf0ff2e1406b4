import type { FastifyInstance } from 'fastify';
import { HttpError } from '../errors/http-error.ts';
import { sendJson } from '../responses/json-response.ts';

/** Serves `/livez` and `/readyz`. */
export function health(server: FastifyInstance, areAllReady: () => Promise<boolean>): void {
  server.get('/livez', (_request, reply) => sendJson(reply, { status: 'alive' }));
  server.get('/readyz', async (_request, reply) => {
    if (server.isClosing)
      throw new HttpError('shuttingDown', 'this instance is shutting down: use another one');
    await server.store.ready();
    if (!(await areAllReady())) throw new HttpError('shuttingDown', otherNotReady);
    return sendJson(reply, { status: 'ready' });
  });
}

const otherNotReady = 'another process of this instance is starting or shutting down: try again';
