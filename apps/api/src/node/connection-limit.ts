import type { FastifyInstance } from 'fastify';
import { HttpError } from '../errors/http-error.ts';

/** Limits open connections: each needs memory, and a file descriptor that the database needs too. */
export function limitConnections({ server, logError }: FastifyInstance, max: number): void {
  server.maxConnections = max;
  server.on('drop', () => {
    logError(new HttpError('overloaded', `a connection was rejected: ${max} are open`));
  });
}
