import { setInterval } from 'node:timers/promises';
import { openPlantStore } from '@plant-store/core';
import { explainDatabaseError } from '@plant-store/core/operator';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { Authenticate } from '../auth/authentication.ts';
import { acceptStaticTokens } from '../auth/static-tokens.ts';
import { connectionCapacity } from '../connections/connection-capacity.ts';
import { backlog } from '../connections/node-server-options.ts';
import { type Env, jwtSettings } from '../env.ts';
import { type LogOutput, logOutput } from '../observability/log-output.ts';
import type { Metrics } from '../observability/metrics.ts';
import { startTracing } from '../observability/tracing.ts';
import { buildConsole } from '../pages/build-console.ts';
import { firstRunToken } from './first-run-token.ts';
import { keepFeed } from './keep-feed.ts';
import { stopOnSignals } from './stop.ts';
import { type Listening, welcome } from './welcome.ts';

export async function start(env: Env): Promise<void> {
  const consoleBuilt = buildConsole();
  const { server, metrics, output, generated } = await prepareServer(env);
  const metricsUrl = metrics && (await listenForMetrics(metrics, server.log, env));
  await consoleBuilt; // Until the build has ended, the console's folder is incomplete.
  // Until the server listens, a stop signal ends the process immediately. When the server listens, clients
  // can send requests, so the process must respond before it exits.
  const drainDelay = env.PLANT_STORE_DRAIN_DELAY_MS;
  server.server.once('listening', () => stopOnSignals({ server, drainDelay, logOutput: output }));
  const listening = await openServer(server, env);
  // The log's stream writes the welcome, so that all earlier log lines come before the welcome.
  output.write(welcome(env, { ...listening, metricsUrl, generated }));
}

/** @param given the destination of the log. The default is standard output */
export async function prepareServer(env: Env, given?: LogOutput) {
  const stopTracing = await startTracing();
  const { DATABASE_URL: databaseUrl, PLANT_STORE_DATA_DIR: dataDirectory } = env;
  // The server's modules load while the database opens.
  const [store, { buildServer }] = await Promise.all([
    openPlantStore(databaseUrl ? { databaseUrl } : { dataDirectory }, {
      webhooks: { allow: env.PLANT_STORE_WEBHOOK_ALLOW },
    }),
    import('../server.ts'),
  ]);
  const environmentToken = env.PLANT_STORE_TOKEN;
  const generated =
    environmentToken || databaseUrl ? undefined : await firstRunToken(dataDirectory);

  const metrics =
    env.PLANT_STORE_METRICS_PORT === undefined
      ? undefined
      : // A server without metrics does not load `metrics.ts`, because this module loads slowly.
        (await import('../observability/metrics.ts')).createMetrics(store);
  const { maxConnections, shortage } = connectionCapacity();
  const output = given ?? logOutput(metrics?.countLostLine);
  const server = await buildServer({
    store,
    logStream: output,
    authenticate: acceptStaticTokens(
      [
        ...(environmentToken ? [{ name: 'environment', token: environmentToken }] : []),
        ...(generated ? [{ name: 'first-run', token: generated.token }] : []),
      ],
      await acceptJwtsOf(env, store.accessTokens.authenticate),
    ),
    metrics,
    maxConnections,
    trustProxy: env.PLANT_STORE_TRUST_PROXY,
    logLevel: env.LOG_LEVEL,
    rateLimit: env.PLANT_STORE_RATE_LIMIT,
    corsOrigins: env.PLANT_STORE_CORS_ORIGINS,
  });
  server.addHook('onClose', stopTracing);
  if (shortage) server.log.warn({ maxConnections }, shortage);
  return { server, metrics, output, generated };
}

/** Opens the port of the server. When the database responds, calls `keepFeed` and sends the webhooks. */
export async function openServer(server: FastifyInstance, env: Env): Promise<Listening> {
  const url = await server
    .listen({ host: env.HOST, port: env.PORT, backlog })
    .catch(
      throwStartError('listen', 'set HOST and PORT to an address of this machine that is free'),
    );
  const { store } = server;
  const databaseError = await store.ready().then(() => undefined, explainDatabaseError);
  const open = databaseError === undefined ? Promise.resolve() : logWhenOpen(server);
  void open.then(() => {
    keepFeed(server, env.PLANT_STORE_FEED_DAYS);
    store.webhooks.send();
  });
  return { url, databaseError };
}

/** Loads the code for JWTs only when the settings ask for JWTs, because this code delays the start. */
async function acceptJwtsOf(env: Env, fallback: Authenticate): Promise<Authenticate> {
  const jwts = jwtSettings(env);
  if (!jwts) return fallback;
  const { acceptJwts } = await import('../auth/jwt.ts');
  return acceptJwts(jwts, fallback);
}

/** Serves the metrics on their own port. Returns the URL of the metrics. */
async function listenForMetrics(
  metrics: Metrics,
  log: FastifyBaseLogger,
  // The port is set, because without a port there are no metrics.
  { HOST: host, PLANT_STORE_METRICS_PORT: port = 0 }: Env,
): Promise<string> {
  const { buildMetricsServer } = await import('./metrics-server.ts');
  const remedy =
    'set HOST to an address of this machine, and PLANT_STORE_METRICS_PORT to a port that is free';
  const url = await buildMetricsServer(metrics, log)
    .listen({ host, port })
    .catch(throwStartError('listen for Prometheus', remedy));
  return `${url}/metrics`;
}

async function logWhenOpen({ log, store }: FastifyInstance): Promise<void> {
  for await (const _ of setInterval(1_000, undefined, { ref: false })) {
    const isOpen = await store.ready().then(
      () => true,
      () => false,
    );
    if (isOpen) return log.info('the database responds: the plant store is open');
  }
}

/** Makes a function that throws an error. The message names the step of the start that did not work. */
function throwStartError(step: string, remedy: string): (cause: unknown) => never {
  return (cause) => {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`cannot ${step} (${why}): ${remedy}`, { cause });
  };
}
