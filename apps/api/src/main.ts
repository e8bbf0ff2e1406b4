import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import closeWithGrace from 'close-with-grace';
import type { FastifyInstance } from 'fastify';
import { loadSettings, repositoryRoot, type Settings } from './settings.ts';
import { listen, openServer } from './start.ts';
import { welcome } from './welcome.ts';

/** Milliseconds for which a closing server waits for its last responses, after the drain delay. */
const responseTimeout = 6_000;

/** Milliseconds that the store may take to cancel running statements and to close its database. */
const storeTimeout = 2_000;

/** Starts the server, and stops it at a signal or after an uncaught exception. */
export async function main(): Promise<void> {
  let stop: Stop = async () => {}; // Until the server listens, a signal ends the process at once.
  // A second signal ends the process, too. After an error, the exit code is 1.
  closeWithGrace({ delay: false, logger: false, skip }, (cause) => stop(cause));
  try {
    await start((stopServer) => {
      stop = stopServer;
    });
  } catch (error) {
    const lines = error instanceof Error ? error.message.split('\n') : [String(error)];
    console.error(['The plant store did not start.', ...lines].join('\n  '));
    process.exit(1);
  }
}

type Stop = (cause: { err?: Error; signal?: NodeJS.Signals }) => Promise<void>;

/** Events that do not stop the server: SIGUSR2 belongs to tools, such as profilers. */
const skip: ('SIGUSR2' | 'beforeExit')[] = ['SIGUSR2', 'beforeExit'];

async function start(onListening: (stop: Stop) => void): Promise<void> {
  const settings = loadSettings();
  const consoleBuilt = process.argv.includes('--build-console') && buildConsole();
  const { server, metrics, logStream, firstRun } = await openServer(settings);
  const metricsUrl = metrics && (await listenForMetrics(metrics, server, settings));
  await consoleBuilt; // Until the build has ended, the console's folder is incomplete.
  server.server.once('listening', () =>
    onListening(async ({ err, signal }) => {
      // SIGINT and SIGHUP come from a user who waits at a terminal.
      const isAtTerminal = signal === 'SIGINT' || signal === 'SIGHUP';
      if (err) server.log.fatal({ err: toError(err) }, 'an uncaught exception stops the process');
      await stop(server, isAtTerminal ? 0 : settings.PLANT_STORE_DRAIN_DELAY_MS);
    }),
  );
  const listening = await listen(server, settings);
  // The log's stream writes the text, so that all earlier log lines come before it.
  const started = { ...listening, metricsUrl, firstRun };
  logStream.write(welcome(settings, started, process.stdout.isTTY));
}

async function stop(server: FastifyInstance, drainDelay: number): Promise<void> {
  server.drainDelay = drainDelay;
  // A client that never sends the rest of its request must not delay the exit.
  await Promise.race([server.close(), setTimeout(drainDelay + responseTimeout)]);
  await Promise.race([server.store.close(), setTimeout(storeTimeout)]);
}

/** A thrown value that is not an error may contain a secret. */
function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error('a value was thrown, and not an error');
}

/** Builds the console for `pnpm start`. When the build fails, the server works without the console. */
async function buildConsole(): Promise<void> {
  const turbo = createRequire(join(repositoryRoot, 'package.json')).resolve('turbo');
  const args = [turbo, 'run', 'build', '--filter=@plant-store/web', '--no-update-notifier'];
  const env = { ...process.env, TURBO_TELEMETRY_DISABLED: '1' };
  const build = promisify(execFile)(process.execPath, args, { cwd: repositoryRoot, env });
  const kill = () => build.child.kill();
  process.once('exit', kill);
  await build.catch(({ stdout, stderr }) => {
    console.error(`The console was not built:\n${stdout}${stderr}`);
  });
  process.off('exit', kill);
}

/** Serves the metrics on their own port. Returns the URL of the metrics. */
async function listenForMetrics(
  metrics: NonNullable<Awaited<ReturnType<typeof openServer>>['metrics']>,
  { log }: FastifyInstance,
  { HOST: host, PLANT_STORE_METRICS_PORT: port = 0 }: Settings,
): Promise<string> {
  const { buildMetricsServer } = await import('./process/metrics-server.ts');
  const url = await buildMetricsServer(metrics, log)
    .listen({ host, port })
    .catch((cause) => {
      const remedy =
        'set HOST to an address of this machine, and PLANT_STORE_METRICS_PORT to a free port';
      throw new Error(`cannot listen for Prometheus (${cause.message}): ${remedy}`, { cause });
    });
  return `${url}/metrics`;
}
