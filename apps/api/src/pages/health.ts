import type { FastifyInstance } from 'fastify';
import { HttpError } from '../errors/http-error.ts';
import { unwritableRatio } from '../observability/cluster-log.ts';
import { sendJson } from '../responses/json-response.ts';

/**
 * Serves `/livez` and `/readyz`. When a node of a cluster is down, the instance is still ready: the other
 * nodes serve their plants. `unwritable` is then the share of ids whose plants clients cannot write.
 */
export function health(server: FastifyInstance, areAllReady: () => Promise<boolean>): void {
  server.get('/livez', (_request, reply) => sendJson(reply, { status: 'alive' }));
  server.get('/readyz', async (_request, reply) => {
    if (server.isClosing)
      throw new HttpError('shuttingDown', 'this instance is shutting down: use another one');
    await server.store.ready();
    if (!(await areAllReady())) throw new HttpError('shuttingDown', otherNotReady);
    const unwritable = unwritableRatio(server.store);
    return sendJson(reply, { status: 'ready', ...(unwritable > 0 && { unwritable }) });
  });
}

const otherNotReady = 'another process of this instance is starting or shutting down: try again';
