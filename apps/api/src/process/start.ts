import { setInterval } from 'node:timers/promises';
import { explainDatabaseError, openPlantStore, type PlantStore } from '@plant-store/core';
import { describeDatabaseUrl } from '@plant-store/core/read';
import type { FastifyInstance } from 'fastify';
import type { Authenticate } from '../auth/authentication.ts';
import { createSignIn } from '../auth/sign-in.ts';
import { acceptTrustedTokens, type TrustedToken } from '../auth/trusted-tokens.ts';
import {
  databaseSettings,
  type Env,
  jwtSettings,
  readEnv,
  repositoryRoot,
  unknownSettings,
} from '../env.ts';
import { backlog } from '../node/node-server-options.ts';
import { logOutput } from '../observability/log-output.ts';
import type { Metrics } from '../observability/metrics.ts';
import { buildConsole, hasConsole } from '../web/build-console.ts';
import { connectionCapacity } from './connection-capacity.ts';
import { firstRunToken } from './first-run-token.ts';
import { explainStartError, throwStartError } from './start-error.ts';
import { stopOnSignals } from './stop.ts';
import { welcome } from './welcome.ts';

try {
  await start(readEnv());
} catch (error) {
  console.error(explainStartError(error));
  process.exit(1);
}

async function start(env: Env): Promise<void> {
  // In the background, in another process. Only `pnpm start` asks for it.
  const consoleBuilt = process.argv.includes('--build-console') ? buildConsole() : undefined;
  const { DATABASE_URL: databaseUrl, PLANT_STORE_DATA_DIR: dataDirectory } = env;
  // The server's modules load while the database opens.
  const [store, { buildServer }] = await Promise.all([
    openPlantStore(databaseUrl ? { databaseUrl } : { dataDirectory }),
    import('../server.ts'),
  ]);
  const environmentToken = env.PLANT_STORE_TOKEN;
  const needsFirstRunToken = !environmentToken && !databaseUrl;
  const generated = needsFirstRunToken ? await firstRunToken(dataDirectory) : undefined;

  const signIn = generated && createSignIn(generated.token);

  const metrics = env.PLANT_STORE_METRICS_PORT === undefined ? undefined : await loadMetrics(store);
  const { maxConnections, shortage } = connectionCapacity();
  const output = logOutput(metrics?.countLostLine);
  const server = await buildServer({
    store,
    logStream: output,
    authenticate: await createAuthenticator(store, env, [
      ...(environmentToken ? [{ name: 'environment', token: environmentToken }] : []),
      ...(generated ? [{ name: 'first-run', token: generated.token }] : []),
    ]),
    signIn,
    metrics,
    maxConnections,
    trustProxy: env.PLANT_STORE_TRUST_PROXY,
    logLevel: env.LOG_LEVEL,
    rateLimit: env.PLANT_STORE_RATE_LIMIT,
    corsOrigins: env.PLANT_STORE_CORS_ORIGINS,
    authFailureLimit: env.PLANT_STORE_AUTH_FAILURE_LIMIT,
  });

  for (const message of unknownSettings()) server.log.warn(message);
  if (shortage) server.log.warn({ maxConnections }, shortage);

  // From the first request on, a signal must wait for replies.
  const drainDelay = env.PLANT_STORE_DRAIN_DELAY;
  server.server.once('listening', () =>
    stopOnSignals({ server, store, drainDelay, logOutput: output }),
  );
  const metricsUrl = metrics && (await listenForMetrics(metrics, server, env));
  const url = await server
    .listen({ host: env.HOST, port: env.PORT, backlog })
    .catch(
      throwStartError('listen', 'set HOST and PORT to an address of this machine that is free'),
    );
  await consoleBuilt;
  const databaseError = await store.ready().then(() => undefined, explainDatabaseError);
  // Through the log's stream, so that no earlier line of the log comes after it.
  output.write(
    welcome({
      url,
      hasConsole: hasConsole(),
      metricsUrl,
      database: databaseUrl ? `Postgres at ${describeDatabaseUrl(databaseUrl)}` : dataDirectory,
      databaseError,
      signInCode: signIn?.code,
      token: generated ?? (environmentToken ? 'environment' : 'none'),
      root: repositoryRoot,
      settings: databaseSettings(),
    }),
  );
  if (databaseError !== undefined) void logWhenOpen(server, store);
}

/**
 * Accepts trusted tokens, the identity provider's JWTs and the store's own tokens, in this order.
 */
async function createAuthenticator(store: PlantStore, env: Env, trusted: readonly TrustedToken[]) {
  const { authenticate } = store.accessTokens;
  return acceptTrustedTokens(trusted, (await jwtAuthenticator(env, authenticate)) ?? authenticate);
}

/** Imports the code for JWTs only when they are accepted: the import takes 30 ms of CPU time. */
async function jwtAuthenticator(env: Env, fallback: Authenticate) {
  const jwts = jwtSettings(env);
  if (!jwts) return undefined;
  const { acceptJwts } = await import('../auth/jwt.ts');
  return acceptJwts(jwts, fallback);
}

/** Imports the metrics only when they are needed: the import takes a tenth of the start-up time. */
async function loadMetrics(store: PlantStore): Promise<Metrics> {
  const { createMetrics } = await import('../observability/metrics.ts');
  return createMetrics(store);
}

/** Serves the metrics on their own port, and returns their URL. */
async function listenForMetrics(metrics: Metrics, { log }: FastifyInstance, env: Env) {
  const { buildMetricsServer } = await import('./metrics-server.ts');
  const { HOST: host, PLANT_STORE_METRICS_PORT: port } = env;
  const remedy =
    'set HOST to an address of this machine, and PLANT_STORE_METRICS_PORT to a port that is free';
  const url = await buildMetricsServer(metrics, log)
    .listen({ host, ...(port !== undefined && { port }) })
    .catch(throwStartError('listen for Prometheus', remedy));
  return `${url}/metrics`;
}

/** Tells the person who has read that the database does not answer yet. */
async function logWhenOpen({ log }: FastifyInstance, store: PlantStore): Promise<void> {
  for await (const _ of setInterval(1_000, undefined, { ref: false })) {
    const isOpen = await store.ready().then(
      () => true,
      () => false,
    );
    if (isOpen) return log.info('the database answers: the plant store is open');
  }
}
