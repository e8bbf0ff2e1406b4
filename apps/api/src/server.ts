import type { PlantStore } from '@plant-store/core';
import { appRouter, procedures } from '@plant-store/core/router';
import { shorten } from '@plant-store/schemas';
import { type FastifyBaseLogger, type FastifyInstance, fastify } from 'fastify';
import pino from 'pino';
import { type Authenticate, requireToken } from './auth/authentication.ts';
import {
  dropAfterError,
  limitConnections,
  trackConnections,
  trackResponse,
} from './connections/client-connections.ts';
import { drain } from './connections/drain.ts';
import { dropGoneAfterGap } from './connections/event-loop-gap.ts';
import { respondToNodeEvents } from './connections/node-errors.ts';
import { nodeServerOptions } from './connections/node-server-options.ts';
import { HttpError } from './errors/http-error.ts';
import { logOutput } from './observability/log-output.ts';
import type { Metrics } from './observability/metrics.ts';
import {
  createErrorLog,
  RequestLog,
  sendRequestId,
  serializers,
} from './observability/request-log.ts';
import { pages } from './pages.ts';
import { cors } from './requests/cors.ts';
import { defaultMemoryBudget, limitMemory } from './requests/memory/limit-memory.ts';
import { limitRate } from './requests/rate-limit.ts';
import { checkBodyHeaders, checkRequestHeaders, sendContinue } from './requests/request-headers.ts';
import { decorateRequests } from './requests/request-state.ts';
import { handleError } from './requests/send-error.ts';
import { takeTurn } from './requests/take-turn.ts';
import { rejectUnknownRoute, respondToServerOptions } from './requests/unknown-route.ts';
import { limitWaiting } from './requests/waiting.ts';
import { compressResponse } from './responses/compression.ts';
import { mcp } from './surfaces/mcp.ts';
import { rest } from './surfaces/rest.ts';
import { trpc } from './surfaces/trpc/trpc.ts';

export interface ServerOptions {
  store: PlantStore;
  /** Finds the principal of an access token. By default, the server accepts the store's own tokens. */
  authenticate?: Authenticate;
  /** A pino level. */
  logLevel?: string;
  /** The destination of log lines. The default is standard output. */
  logStream?: { write(line: string): void };
  /** The most requests a minute from one client. By default, there is no limit. */
  rateLimit?: number | undefined;
  /** Web pages of these origins may call the server. The default is none. */
  corsOrigins?: readonly string[];
  /** Milliseconds within which a client must send a whole request. */
  requestTimeout?: number;
  /** The most open connections. The server closes further connections at once. */
  maxConnections?: number;
  /** The most bytes of bodies, pages and unread responses together. The default depends on the heap size. */
  memoryBudget?: number;
  metrics?: Metrics | undefined;
  /** Addresses and subnets of proxies whose `X-Forwarded-For` is trusted. The default is none. */
  trustProxy?: string[];
  /** The directory of the built console. The default is the directory that the build of `apps/web` fills. */
  consoleDirectory?: string | undefined;
}

/** Builds the HTTP server, ready to `listen` or `inject`. The server's `close` leaves the store open. */
export async function buildServer({
  store,
  authenticate = store.accessTokens.authenticate,
  logLevel = 'info',
  logStream = logOutput(),
  rateLimit,
  corsOrigins = [],
  requestTimeout,
  maxConnections = 10_000,
  memoryBudget = defaultMemoryBudget(),
  metrics,
  trustProxy = [],
  consoleDirectory,
}: ServerOptions): Promise<FastifyInstance> {
  const log = pino({ level: logLevel, serializers }, logStream);
  const crossOrigin = cors(corsOrigins);
  const requestLog = new RequestLog(log, metrics);
  const server = fastify({
    // The cast gives the server the usual type, without pino's own type.
    loggerInstance: log as FastifyBaseLogger,
    logController: requestLog,
    // One logger for all requests is cheaper than a child logger for each request, and our lines contain the
    // request's id anyway.
    childLoggerFactory: (logger) => logger,
    trustProxy: trustProxy.length > 0 && trustProxy,
    schemaController: { compilersFactory: noCompilers },
    ...nodeServerOptions(requestTimeout),
  });
  decorateRequests(server);
  server.decorate('store', store);
  server.decorate('logError', createErrorLog(server.log));
  server.decorate('startWaiting', limitWaiting(Math.ceil(maxConnections / 2)));
  server.setErrorHandler(handleError);
  server.setNotFoundHandler(({ url }) => {
    throw new HttpError('pathUnknown', `there is no path ${shorten(url)}`);
  });
  const warn = (message: string) => server.log.warn(message);
  store.events.on('warning', warn);
  server.addHook('onClose', async () => void store.events.off('warning', warn));

  // These functions listen to the events of Node's server, before Fastify gets a request.
  trackConnections(server.server, (reply) => requestLog.connectionLost(reply));
  respondToNodeEvents(server);
  limitConnections(server, maxConnections);

  // Hooks that run for every request, in this order.
  server.addHook('onRequest', sendRequestId);
  server.addHook('onRequest', trackResponse);
  server.addHook('onRequest', checkRequestHeaders);
  server.addHook('onRequest', crossOrigin.respondToPreflight);
  server.addHook('onRequest', respondToServerOptions);
  server.addHook('onRequest', rejectUnknownRoute(server));

  await server.register(pages, { consoleDirectory });
  await server.register(async (operations) => {
    // The operations of REST and of tRPC have further hooks.
    if (rateLimit !== undefined) operations.addHook('onRequest', limitRate(rateLimit));
    operations.addHook('onRequest', requireToken(authenticate));
    const memory = limitMemory(memoryBudget);
    operations.decorate('memory', memory);
    operations.decorateRequest('reserve', memory.reserve);
    operations.addHook('onRequest', checkBodyHeaders);
    operations.addHook('onRequest', memory.reserveBody);
    operations.addHook('onRequest', takeTurn(server.server));
    operations.addHook('onRequest', sendContinue);
    operations.addHook('preParsing', memory.countChunks);
    operations.addHook('preValidation', dropAfterError);
    operations.addHook('preValidation', dropGoneAfterGap(operations));
    operations.addHook('onSend', memory.countResponse);
    operations.addHook('onSend', compressResponse);

    await operations.register(rest, { procedures });
    await operations.register(trpc, { procedures, router: appRouter, prefix: '/trpc' });
    await operations.register(mcp, { procedures });
  });

  // The hooks of every response.
  const { waitForDrain, announceClose, closeAfterResponse } = drain(server, store.stopWaiting);
  // Without allowed origins, a response never depends on the origin, so no CORS header is needed.
  if (corsOrigins.length > 0) server.addHook('onSend', crossOrigin.setCorsHeaders);
  server.addHook('onSend', announceClose);
  server.addHook('onResponse', closeAfterResponse);

  // The hooks of a shutdown.
  server.addHook('preClose', async () => server.log.info('stopping'));
  server.addHook('preClose', waitForDrain);
  server.addHook('onClose', async () => server.log.info('stopped'));
  return server;
}

/**
 * Replaces Fastify's compilers of JSON Schemas, whose modules load slowly. Our routes need no JSON Schemas:
 * the procedures check their input, and the surfaces write the responses.
 */
const noCompilers = { buildValidator: noCompiler, buildSerializer: noCompiler };

function noCompiler(): never {
  throw new Error('a route has a schema of Fastify: check its input in a procedure');
}
