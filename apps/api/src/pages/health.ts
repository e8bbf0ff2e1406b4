import type { PlantStore } from '@plant-store/core';
import type { FastifyInstance } from 'fastify';
import { HttpError } from '../errors/http-error.ts';
import { unwritableRatio } from '../observability/cluster-log.ts';
import { sendJson } from '../responses/json-response.ts';

/**
 * Serves `/livez` and `/readyz`. While a node of a cluster is down, the other nodes still serve their
 * plants, so the instance is ready, and `/readyz` gives the part of all ids that cannot be written.
 */
export function health(
  server: FastifyInstance,
  store: PlantStore,
  areAllReady: () => Promise<boolean>,
): void {
  server.get('/livez', (_request, reply) => sendJson(reply, { status: 'alive' }));
  server.get('/readyz', async (_request, reply) => {
    if (server.isClosing)
      throw new HttpError('shuttingDown', 'this instance is shutting down: use another one');
    await store.ready();
    if (!(await areAllReady())) throw new HttpError('shuttingDown', otherNotReady);
    const unwritable = unwritableRatio(store);
    return sendJson(reply, { status: 'ready', ...(unwritable > 0 && { unwritable }) });
  });
}

const otherNotReady = 'another process of this instance is starting or shutting down: try again';
