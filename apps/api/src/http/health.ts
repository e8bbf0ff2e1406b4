import type { PlantStore } from '@plant-store/core';
import type { FastifyInstance } from 'fastify';
import { HttpError } from '../errors/http-error.ts';
import { sendJson } from './json-reply.ts';

/** `/livez`: the process is up. `/readyz`: the database answers, has the tables, and no shutdown began. */
export function health(server: FastifyInstance, store: PlantStore): void {
  server.get('/livez', (_request, reply) => sendJson(reply, { status: 'alive' }));
  server.get('/readyz', async (_request, reply) => {
    if (server.isClosing) throw new HttpError('shuttingDown', 'this instance is shutting down');
    await store.ready();
    return sendJson(reply, { status: 'ready' });
  });
}
