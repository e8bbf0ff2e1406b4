import { type PlantStore, PlantStoreError } from '@plant-store/core';
import type { FastifyInstance } from 'fastify';
import { sendJson } from './json-reply.ts';

/** `/livez`: the process is up. `/readyz`: the database answers, its tables are there and no shutdown has begun. */
export function health(server: FastifyInstance, store: PlantStore): void {
  server.get('/livez', (_request, reply) => sendJson(reply, { status: 'alive' }));
  server.get('/readyz', async (_request, reply) => {
    if (server.isClosing)
      throw new PlantStoreError('shuttingDown', 'this instance is shutting down');
    await store.ready();
    return sendJson(reply, { status: 'ready' });
  });
}
