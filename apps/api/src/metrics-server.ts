import { type FastifyBaseLogger, type FastifyInstance, fastify, LogController } from 'fastify';
import { watchConnections } from './connections.ts';
import { handleErrors } from './error-replies.ts';
import { handleHttpErrors } from './http-errors.ts';
import type { Metrics } from './metrics.ts';
import { nodeServerOptions } from './node-server-options.ts';
import { tellRequestIds } from './request-id.ts';

/**
 * `/metrics`, without a token, but for a port of its own: who reaches the store does not reach it.
 * Ready to `listen`.
 */
export function buildMetricsServer(
  metrics: Metrics,
  loggerInstance: FastifyBaseLogger,
): FastifyInstance {
  const server = fastify({
    loggerInstance,
    // No line for each time that it is scraped.
    logController: new LogController({ disableRequestLogging: true }),
    ...nodeServerOptions(),
  });
  tellRequestIds(server);
  watchConnections(server);
  handleErrors(server, 'there is /metrics alone');
  handleHttpErrors(server);
  server.get('/metrics', async (_request, reply) =>
    reply.type('text/plain; version=0.0.4; charset=utf-8').send(await metrics.text()),
  );
  return server;
}
