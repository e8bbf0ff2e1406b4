import { type FastifyBaseLogger, type FastifyInstance, fastify, LogController } from 'fastify';
import { watchConnections } from '../node/connections.ts';
import { handleErrors } from '../http/error-replies.ts';
import { handleHttpErrors } from '../node/node-errors.ts';
import type { Metrics } from '../observability/metrics.ts';
import { nodeServerOptions } from '../node/node-server-options.ts';
import { tellRequestIds } from '../observability/request-id.ts';

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
