import { setTimeout } from 'node:timers/promises';
import compress from '@fastify/compress';
import cors from '@fastify/cors';
import rateLimit, { normalizeIP } from '@fastify/rate-limit';
import { type PlantStore, PlantStoreError, type Principal } from '@plant-store/core';
import { procedures } from '@plant-store/core/router';
import { type FastifyBaseLogger, type FastifyInstance, fastify } from 'fastify';
import pino from 'pino';
import { type Authenticate, requireToken } from './auth/tokens.ts';
import {
  createErrorLog,
  type LogError,
  oneLogger,
  requestIdOf,
  requestLog,
  sendRequestId,
  serializers,
} from './observability/log.ts';
import type { Metrics } from './observability/metrics.ts';
import { pages } from './pages.ts';
import { clientErrorHandler, sendError } from './requests/errors.ts';
import {
  badPath,
  checkHeaders,
  pathUnknown,
  rejectOtherMethods,
  rejectUnknownPaths,
} from './requests/headers.ts';
import {
  createBudgets,
  limitConnections,
  rejectAfterPause,
  reserveBody,
  serverLimits,
} from './requests/limits.ts';
import type { Settings } from './settings.ts';
import { isGone } from './surfaces/call.ts';
import { mcp } from './surfaces/mcp.ts';
import { rest } from './surfaces/rest.ts';
import { trpc } from './surfaces/trpc.ts';

interface ServerOptions {
  store: PlantStore;
  settings: Settings;
  authenticate: Authenticate;
  logStream: { write(line: string): void };
  metrics: Metrics | undefined;
}

// The server has these properties for its hooks and surfaces. Each property of a request has one writer.
declare module 'fastify' {
  interface FastifyInstance {
    store: PlantStore;
    authenticate: Authenticate;
    budgets: ReturnType<typeof createBudgets>;
    logError: LogError;
    /** Milliseconds for which a closing server accepts requests. Set by `main.ts`. */
    drainDelay: number;
    isClosing: boolean;
  }
  interface FastifyRequest {
    /** Whether the client has disconnected. */
    readonly isGone: boolean;
    /** Set by the hook `requireToken`. */
    principal: Principal | null;
    /** The age of the request in milliseconds when it began to wait. Set by `startWaiting`. */
    waitsFrom: number | undefined;
  }
}

/**
 * Builds the HTTP server, ready to `listen` or `inject`. The hooks run in the order of their lines. The
 * server's `close` leaves the store open.
 */
export async function buildServer(options: ServerOptions): Promise<FastifyInstance> {
  const { store, settings, authenticate, logStream, metrics } = options;
  const { PLANT_STORE_RATE_LIMIT: mostRequests, PLANT_STORE_CORS_ORIGINS: origins } = settings;
  const { PLANT_STORE_TRUST_PROXY: proxies } = settings;
  const log = pino({ level: settings.LOG_LEVEL, serializers }, logStream);
  const server = fastify({
    ...serverLimits,
    // The cast gives the server the usual type, without pino's own type.
    loggerInstance: log as FastifyBaseLogger,
    logController: requestLog(log, metrics),
    childLoggerFactory: oneLogger,
    genReqId: requestIdOf,
    trustProxy: proxies.length > 0 && proxies,
    // The server responds to requests on open connections even while the server closes.
    return503OnClosing: false,
    frameworkErrors(_error, request, reply) {
      sendError(badPath(request), request, reply.header('x-request-id', request.id));
    },
    clientErrorHandler,
  });
  server.decorate('store', store);
  server.decorate('authenticate', authenticate);
  server.decorate('budgets', createBudgets());
  server.decorate('logError', createErrorLog(server.log));
  server.decorate('drainDelay', 0).decorate('isClosing', false);
  server.decorateRequest('isGone', { getter: isGone });
  server.decorateRequest('principal', null);
  server.decorateRequest('waitsFrom', undefined);

  // Node closes surplus connections. A hook checks `Expect`, because Node's own response 417 has no body.
  limitConnections(server);
  server.server.on('checkExpectation', (...both) => server.server.emit('request', ...both));

  // These hooks run for every request with a valid path. An error goes to the error handler of the request's surface.
  server.setErrorHandler(sendError);
  server.addHook('onRequest', sendRequestId); // Every response has the request id of the log.
  server.addHook('onRequest', checkHeaders); // Node's own checks of `Host` and `Expect` send no body.
  if (origins.length > 0) await server.register(cors, corsOptions(origins));
  server.addHook('onRequest', rejectUnknownPaths); // No body is read for an unknown path.
  server.setNotFoundHandler(async (request) => {
    throw pathUnknown(request); // The pages call this handler for a missing file.
  });
  server.addHttpMethod('DELETE', { hasBody: false, overrideExisting: true }); // RFC 9110 §9.3.5.
  const addOtherMethods = rejectOtherMethods(server);
  await server.register(pages); // These pages need no token.

  // These hooks run only for REST, tRPC and MCP.
  await server.register(async (operations) => {
    if (mostRequests !== undefined) {
      await operations.register(rateLimit, rateLimitOptions(mostRequests));
      operations.addHook('onRequest', operations.rateLimit()); // Requests with invalid tokens count too.
    }
    operations.addHook('onRequest', requireToken); // No body is read before the token is checked.
    operations.addHook('onRequest', rejectAfterPause(server)); // After a pause, only GET and HEAD are served for a second.
    operations.addHook('onRequest', reserveBody); // Large bodies may fill only their own budget.
    await operations.register(compress, compressOptions);
    await operations.register(rest, { procedures });
    await operations.register(trpc, { procedures, prefix: '/trpc' });
    await operations.register(mcp, { procedures });
  });
  addOtherMethods();

  // Until the server closes, its log shows the warnings of the store.
  const warn = (message: string) => server.log.warn(message);
  store.events.on('warning', warn);
  server.addHook('preClose', async () => drain(server));
  server.addHook('onClose', async () => {
    store.events.off('warning', warn);
    server.log.info('stopped');
  });
  return server;
}

/**
 * Accepts requests for the drain delay, in which load balancers see that `/readyz` fails. After the delay,
 * ends the requests that wait for changes. Fastify then stops listening, and closes when every request has its response.
 */
async function drain(server: FastifyInstance): Promise<void> {
  server.log.info('stopping');
  server.isClosing = true; // During `close`, Fastify sends `Connection: close` with each response.
  await setTimeout(server.drainDelay);
  server.store.feed.close();
  // A response that began before the shutdown leaves its connection open.
  const timer = setInterval(() => server.server.closeIdleConnections(), 50).unref();
  server.server.once('close', () => clearInterval(timer));
}

function corsOptions(origin: readonly string[]) {
  return {
    origin: [...origin],
    methods: ['DELETE', 'GET', 'PATCH', 'POST', 'PUT'],
    exposedHeaders: [
      ...['Allow', 'ETag', 'Retry-After', 'WWW-Authenticate', 'X-Request-Id'],
      ...['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'],
    ],
    maxAge: 600, // In seconds.
    strictPreflight: false, // The plugin's own error has another format than the store's errors.
  };
}

function rateLimitOptions(max: number) {
  return {
    global: false,
    max,
    timeWindow: 60_000,
    cache: 100_000, // Without this limit, requests from many addresses could fill the memory.
    keyGenerator: ({ ip }: { ip: string }) => normalizeIP(String(ip)), // A /64 of IPv6 is one client.
    errorResponseBuilder: (_request: unknown, { after }: { after: string }) =>
      new PlantStoreError('rateLimited', `over ${max} requests a minute: try again in ${after}`),
  };
}

/** Low compression levels are fast, and still shorten a list to an eighth. */
const compressOptions = {
  global: false,
  encodings: ['br' as const, 'gzip' as const],
  zlibOptions: { level: 3 },
};
