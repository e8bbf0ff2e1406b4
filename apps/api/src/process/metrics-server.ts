import { type FastifyBaseLogger, type FastifyInstance, fastify, LogController } from 'fastify';
import {
  limitConnections,
  trackConnections,
  trackResponse,
} from '../connections/client-connections.ts';
import { respondToNodeEvents } from '../connections/node-errors.ts';
import { nodeServerOptions } from '../connections/node-server-options.ts';
import { jsonHeaders } from '../errors/error-response.ts';
import type { Metrics } from '../observability/metrics.ts';
import { createErrorLog, sendRequestId } from '../observability/request-log.ts';
import { checkRequestHeaders } from '../requests/request-headers.ts';
import { handleError } from '../requests/send-error.ts';
import { rejectUnknownRoute } from '../requests/unknown-route.ts';

/** Prometheus needs only one connection. Each further connection takes a file descriptor from the clients. */
const maxConnections = 8;

/**
 * Builds the server of `/metrics`, ready to `listen`. The server requires no token, so it has a separate
 * port, which you can hide from clients of the store.
 */
export function buildMetricsServer(
  { contentType, text }: Metrics,
  loggerInstance: FastifyBaseLogger,
): FastifyInstance {
  const server = fastify({
    loggerInstance,
    // Prometheus sends a request every few seconds, so the log has no lines for these requests.
    logController: new LogController({ disableRequestLogging: true }),
    ...nodeServerOptions(),
  });
  server.decorate('logError', createErrorLog(server.log));
  server.setErrorHandler(handleError);
  trackConnections(server.server);
  respondToNodeEvents(server);
  limitConnections(server, maxConnections);

  server.addHook('onRequest', sendRequestId);
  server.addHook('onRequest', trackResponse);
  server.addHook('onRequest', rejectUnknownRoute(server, 'the only path is /metrics'));
  server.addHook('onRequest', checkRequestHeaders);
  server.get('/metrics', async (_request, reply) => {
    reply.headers({ ...jsonHeaders, 'content-type': contentType });
    return reply.send(await text());
  });
  return server;
}
