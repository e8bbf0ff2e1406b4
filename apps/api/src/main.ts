import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import closeWithGrace from 'close-with-grace';
import type { FastifyInstance } from 'fastify';
import { loadSettings, repositoryRoot } from './settings.ts';
import { listen, openServer } from './start.ts';
import { welcome } from './welcome.ts';

/** Milliseconds for which a closing server waits for its last responses, after the drain delay. */
const responseTimeout = 6_000;

/** Milliseconds that the store may take to end its writes and to close its database. */
const storeTimeout = 2_000;

const [, , command] = process.argv;
if (command === undefined || command === '--build-console') await startServer();
else await (await import('./operator/commands.ts')).runOperator();

/** Starts the server, and stops it at a signal or after an uncaught exception. */
async function startServer(): Promise<void> {
  let running: FastifyInstance | undefined;
  let drainDelay = 0;

  // The process exits immediately at a second signal, and at a signal before the server listens. SIGUSR2 is for
  // tools such as profilers. After an uncaught exception, the exit code is 1.
  const options = { delay: false as const, logger: false as const };
  closeWithGrace({ ...options, skip: ['SIGUSR2', 'beforeExit'] }, async ({ err, signal }) => {
    const server = running;
    if (!server) return;
    if (err) server.log.fatal({ err }, 'an uncaught exception stops the process');
    // SIGINT and SIGHUP usually come from a terminal, where no load balancer needs the drain delay.
    server.drainDelay = signal === 'SIGINT' || signal === 'SIGHUP' ? 0 : drainDelay;
    // A client that never sends the rest of its request must not prevent the exit.
    await Promise.race([server.close(), setTimeout(server.drainDelay + responseTimeout)]);
    await Promise.race([server.store.close(), setTimeout(storeTimeout)]);
  });

  try {
    const settings = loadSettings();
    drainDelay = settings.PLANT_STORE_DRAIN_DELAY_MS;
    const consoleBuilt = process.argv.includes('--build-console') && buildConsole();
    const opened = await openServer(settings);
    await consoleBuilt; // Until the build has ended, the console's folder is incomplete.
    opened.server.server.once('listening', () => {
      running = opened.server;
    });
    // The start leaves some 20 MB of garbage, which V8 would keep while the server is idle.
    setFlagsFromString('--expose-gc');
    runInNewContext('gc')({ type: 'major', flavor: 'last-resort' });
    const started = { ...(await listen(opened.server, settings)), ...opened };
    // The log's stream writes the text after all earlier log lines.
    opened.logStream.write(welcome(settings, started, process.stdout.isTTY));
  } catch (error) {
    const { message, syscall } = Object(error);
    const fix = /listen|getaddrinfo/.test(syscall)
      ? ': set HOST, PORT and PLANT_STORE_METRICS_PORT to addresses of this machine that are free'
      : '';
    console.error(`The plant store did not start.\n${message}${fix}`.replaceAll('\n', '\n  '));
    process.exit(1);
  }
}

/** Builds the console for `pnpm start`. When the build fails, the server still starts. */
async function buildConsole(): Promise<void> {
  const turbo = createRequire(join(repositoryRoot, 'package.json')).resolve('turbo');
  const args = [turbo, 'run', 'build', '--filter=@plant-store/web', '--no-update-notifier'];
  const env = { ...process.env, TURBO_TELEMETRY_DISABLED: '1' };
  const build = promisify(execFile)(process.execPath, args, { cwd: repositoryRoot, env });
  await build.catch(({ stdout, stderr }) => {
    console.error(`The console was not built:\n${stdout}${stderr}`);
  });
}
