import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { openPlantStore, type PlantStore } from '@plant-store/core';
import { generateToken } from '@plant-store/core/internal';
import { explainDatabaseError } from '@plant-store/core/operator';
import type { FastifyInstance } from 'fastify';
import { type Authenticate, acceptStaticToken, tokenSyntax } from './auth/tokens.ts';
import { logOutput } from './observability/log.ts';
import { startTracing } from './observability/tracing.ts';
import { backlog } from './requests/limits.ts';
import type { Settings } from './settings.ts';

/** Opens the store that the settings name. */
export function openStore(settings: Settings, options = {}): Promise<PlantStore> {
  const { DATABASE_URL: databaseUrl, PLANT_STORE_DATA_DIR: dataDirectory } = settings;
  const webhooks = { allow: settings.PLANT_STORE_WEBHOOK_ALLOW };
  const location = databaseUrl ? { databaseUrl } : { dataDirectory };
  return openPlantStore(location, { webhooks, ...options });
}

/** Opens the store, builds its server, and serves the metrics, as the settings say. `listen` opens the server's port. */
export async function openServer(
  settings: Settings,
  given: { opening?: Promise<PlantStore>; logStream?: { write(line: string): void } } = {},
) {
  const { HOST, DATABASE_URL, PLANT_STORE_TOKEN, PLANT_STORE_METRICS_PORT: port } = settings;
  const stopTracing = await startTracing();
  // The server's modules load while the database opens.
  const { opening = openStore(settings) } = given;
  const [store, { buildServer }] = await Promise.all([opening, import('./server.ts')]);
  const needsToken = !PLANT_STORE_TOKEN && !DATABASE_URL;
  const firstRun = needsToken ? await firstRunToken(settings.PLANT_STORE_DATA_DIR) : undefined;
  const token = PLANT_STORE_TOKEN ?? firstRun?.token;
  // The library of the metrics loads slowly, so only a server with a metrics port loads it.
  const observe = port === undefined ? undefined : await import('./observability/metrics.ts');
  const metrics = observe?.createMetrics(store);
  const { logStream = logOutput(metrics?.countLostLine) } = given;
  const acceptOthers = await acceptJwtsOf(settings, store.accessTokens.authenticate);
  const authenticate = token
    ? acceptStaticToken({ name: firstRun ? 'first-run' : 'environment', token }, acceptOthers)
    : acceptOthers;
  const server = await buildServer({ store, settings, authenticate, logStream, metrics });
  server.addHook('onClose', stopTracing);
  const metricsUrl = await metrics?.listen(HOST, port);
  return { server, logStream, firstRun, metricsUrl };
}

/** The facts that the program prints when its server listens. */
export type Started = Omit<Awaited<ReturnType<typeof openServer>>, 'server' | 'logStream'> &
  Awaited<ReturnType<typeof listen>>;

/** Loads the code for JWTs only when the settings ask for JWTs, because this code delays the start. */
async function acceptJwtsOf(settings: Settings, fallback: Authenticate): Promise<Authenticate> {
  const { PLANT_STORE_JWT_ISSUER: issuer, PLANT_STORE_JWT_AUDIENCE: audience } = settings;
  const { PLANT_STORE_JWT_JWKS_URL: jwksUrl } = settings;
  if (!issuer || !audience || !jwksUrl) return fallback;
  const { acceptJwts } = await import('./auth/jwt.ts');
  return acceptJwts({ issuer, audience, jwksUrl }, fallback);
}

/**
 * Opens the port. When the database responds, the server forgets old deletions and sends webhooks.
 *
 * @returns the URL, and the error of a database that does not respond yet
 */
export async function listen(
  server: FastifyInstance,
  { HOST, PORT, PLANT_STORE_FEED_DAYS }: Settings,
) {
  const url = await server.listen({ host: HOST, port: PORT, backlog });
  const { store, log } = server;
  const databaseError = await store.ready().then(() => undefined, explainDatabaseError);
  void whenReady(store).then(() => {
    if (databaseError) log.info('the database responds: the plant store is open');
    keepFeed(server, PLANT_STORE_FEED_DAYS);
    store.webhooks.send();
  });
  return { url, databaseError };
}

async function whenReady(store: PlantStore): Promise<void> {
  while ((await store.ready().catch(() => 'down')) === 'down') {
    await setTimeout(1_000, undefined, { ref: false });
  }
}

/** Forgets old deletions every hour. Several instances may do this at the same time. A read replica has no feed. */
function keepFeed({ store, log, server }: FastifyInstance, days: number): void {
  const forget = () =>
    store.feed
      .readEnd()
      .then(() => store.feed.forgetDeletions(days))
      .catch((error) => {
        if (error.kind === 'notImplemented') return;
        log.warn(`the feed still has old deletions: ${explainDatabaseError(error)}`);
      });
  void forget();
  const timer = setInterval(forget, 3_600_000).unref();
  server.once('close', () => clearInterval(timer));
}

/** Reads the file of an embedded store's access token, which the first start writes. Only the owner can read the file. */
async function firstRunToken(dataDirectory: string) {
  const path = join(dataDirectory, 'token');
  const stored = await readFile(path, 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  const token = stored.trim() || generateToken();
  if (!tokenSyntax.test(token)) {
    throw new Error(`${path} has no access token: delete it, and restart the server`);
  }
  if (!stored.trim()) await writeFile(path, `${token}\n`, { mode: 0o600 });
  await chmod(path, 0o600); // A file that existed already may let other users read the token.
  return { token, path };
}
