import { openPlantStore, type PlantStore } from '@plant-store/core';
import type { FastifyInstance } from 'fastify';
import { type Env, jwtSettings, readEnv } from '../env.ts';
import { firstRunToken } from './first-run-token.ts';
import { acceptJwts } from '../auth/jwt.ts';
import { buildMetricsServer } from './metrics-server.ts';
import { buildServer } from '../server.ts';
import { explainStartFailure, failedTo, rootMessage } from './start-error.ts';
import { endWhenTold } from './stop.ts';
import { welcome } from './welcome.ts';

try {
  await start(readEnv());
} catch (error) {
  console.error(explainStartFailure(error));
  process.exit(1);
}

async function start(env: Env): Promise<void> {
  const { DATABASE_URL: databaseUrl, PLANT_STORE_DATA_DIR: dataDirectory } = env;
  const opened = await openPlantStore(databaseUrl ? { databaseUrl } : { dataDirectory });
  const jwts = jwtSettings(env);
  const store = jwts ? acceptJwts(opened, jwts) : opened;
  const hasMetrics = env.PLANT_STORE_METRICS_PORT !== undefined;
  const server = await buildServer({
    store,
    metrics: hasMetrics ? await countIn(store) : undefined,
    trustProxy: env.PLANT_STORE_TRUST_PROXY,
    logLevel: env.LOG_LEVEL,
    rateLimit: env.PLANT_STORE_RATE_LIMIT,
    corsOrigins: env.PLANT_STORE_CORS_ORIGINS,
    authFailureLimit: env.PLANT_STORE_AUTH_FAILURE_LIMIT,
  });

  if (env.PLANT_STORE_TOKEN) store.accessTokens.trust('environment', env.PLANT_STORE_TOKEN);
  const isFirstRun = !env.PLANT_STORE_TOKEN && !databaseUrl;
  const made = isFirstRun ? await firstRunToken(dataDirectory, store.accessTokens) : undefined;

  const running = { server, store, drainDelay: env.PLANT_STORE_DRAIN_DELAY };
  server.server.once('listening', () => endWhenTold(running)); // Ahead of the first request.
  const metricsUrl = await offerMetrics(server, env);
  // Of Node's own accord it is 511, and who comes beyond that in a burst waits for seconds.
  const address = { host: env.HOST, port: env.PORT, backlog: 4096 };
  const url = await server
    .listen(address)
    .catch(failedTo('listen', 'set HOST and PORT to an address of this machine that is free'));
  const hasToken = env.PLANT_STORE_TOKEN !== undefined;
  const database = databaseUrl ? 'Postgres' : dataDirectory;
  const unready = await store.ready().then(() => '', rootMessage);
  const token = made ?? (hasToken ? 'environment' : 'none');
  console.log(welcome({ url, metricsUrl, database, unready, token }));
}

/** Loads what counts only where it is wanted: it takes as long as a tenth of the start. */
async function countIn(store: PlantStore) {
  const { createMetrics } = await import('../observability/metrics.ts');
  return createMetrics(store);
}

/** Offers the metrics where a port is set for them, and returns their URL. */
async function offerMetrics({ metrics, log }: FastifyInstance, env: Env) {
  const { HOST: host, PLANT_STORE_METRICS_PORT: port } = env;
  if (!metrics || port === undefined) return undefined;
  const url = await buildMetricsServer(metrics, log)
    .listen({ host, port })
    .catch(failedTo('listen', 'set PLANT_STORE_METRICS_PORT to a port that is free'));
  return `${url}/metrics`;
}
