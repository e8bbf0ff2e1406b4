import rateLimit from '@fastify/rate-limit';
import { appRouter, type PlantStore, PlantStoreError } from '@plant-store/core';
import { type FastifyBaseLogger, type FastifyInstance, fastify } from 'fastify';
import pino from 'pino';
import { closeGently } from './http/drain.ts';
import { watchConnections } from './node/connections.ts';
import { allowOrigins } from './http/cors.ts';
import { docs } from './docs/docs.ts';
import { handleErrors } from './http/error-replies.ts';
import { limitFailures } from './auth/authentication-limit.ts';
import { health } from './http/health.ts';
import { handleHttpErrors } from './node/node-errors.ts';
import { logOutput } from './observability/log-output.ts';
import type { Metrics } from './observability/metrics.ts';
import { nodeServerOptions } from './node/node-server-options.ts';
import { tellRequestIds } from './observability/request-id.ts';
import { RequestLog, serializers } from './observability/request-log.ts';
import { rest } from './rest/rest.ts';
import { trpc } from './trpc/trpc.ts';

export interface ServerOptions {
  store: PlantStore;
  /** A pino level. */
  logLevel?: string;
  /** Where log lines go; standard output unless given. */
  logStream?: { write(line: string): void };
  /** Requests a minute from one address; unlimited unless given. */
  rateLimit?: number | undefined;
  /** Failed authentications a minute from one address; unlimited unless given. */
  authFailureLimit?: number | undefined;
  /** Origins whose pages may call the server; none unless given. */
  corsOrigins?: readonly string[];
  /** Milliseconds in which a request must have been sent completely. */
  requestTimeout?: number;
  /** Connections at once; further ones are refused. */
  maxConnections?: number;
  /** Where it counts what it does; nowhere unless given. */
  metrics?: Metrics | undefined;
  /** Addresses and subnets of the proxies whose `X-Forwarded-For` is believed; nobody's unless given. */
  trustProxy?: string[];
}

/** The HTTP server, ready to `listen` or to `inject` into. Closing it leaves the store open. */
export async function buildServer({
  store,
  logLevel = 'info',
  logStream,
  rateLimit: max,
  authFailureLimit,
  corsOrigins = [],
  requestTimeout,
  maxConnections = 10_000,
  metrics,
  trustProxy = [],
}: ServerOptions): Promise<FastifyInstance> {
  const stream = logStream ?? logOutput();
  const log = pino({ level: logLevel, serializers }, stream);
  const requestLog = new RequestLog(log, stream);
  const server = fastify({
    loggerInstance: log as FastifyBaseLogger, // Else the server would be typed by pino's.
    logController: requestLog,
    // One logger for all: our own lines tell the request's id, and a child costs more than it tells.
    childLoggerFactory: (logger) => logger,
    trustProxy: trustProxy.length > 0 && trustProxy,
    ...nodeServerOptions(requestTimeout),
  });

  logStop(server);
  watchConnections(server, (reply) => requestLog.connectionLost(reply));
  tellRequestIds(server);
  if (metrics) server.decorate('metrics', metrics);
  if (corsOrigins.length > 0) allowOrigins(server, corsOrigins);
  handleErrors(server);
  handleHttpErrors(server);
  closeGently(server);
  limitConnections(server, maxConnections);

  health(server, store);
  await server.register(docs);
  await server.register(async (operations) => {
    if (max !== undefined) await limitRate(operations, max);
    if (authFailureLimit !== undefined) limitFailures(operations, authFailureLimit);
    await operations.register(rest, { store, router: appRouter });
    await operations.register(trpc, { store, prefix: '/trpc' });
  });
  return server;
}

/** Says in the log when the server begins to stop, and when it has: what lies between is the drain. */
function logStop(server: FastifyInstance): void {
  server.addHook('preClose', async () => server.log.info('stopping'));
  server.addHook('onClose', async () => server.log.info('stopped'));
}

/** Each takes memory, and a file descriptor that the database's own connections need too. */
function limitConnections(server: FastifyInstance, max: number): void {
  server.server.maxConnections = max;
  server.server.on('drop', () => {
    const message = `a connection was refused: ${max} are open`;
    const failure = new PlantStoreError('overloaded', message);
    server.logFailure(failure);
  });
}

/** Ahead of authentication, so that guessing tokens is limited too. */
async function limitRate(scope: FastifyInstance, max: number): Promise<void> {
  await scope.register(rateLimit, {
    max,
    global: false,
    errorResponseBuilder: (_request, { after }) =>
      new PlantStoreError('rateLimited', `over ${max} requests a minute: try again in ${after}`),
  });
  scope.addHook('onRequest', scope.rateLimit());
}
