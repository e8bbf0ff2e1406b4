import cluster from 'node:cluster';
import pino from 'pino';
import type { Env } from '../env.ts';
import { logOutput } from '../observability/log-output.ts';
import { serializers } from '../observability/request-log.ts';
import { buildConsole } from '../pages/build-console.ts';
import { listen, listenForMetrics, type PreparedServer, prepareServer } from './start.ts';
import { onStopSignal } from './stop.ts';
import { welcome } from './welcome.ts';
import { becomeWorker } from './worker.ts';
import { startWorkers } from './workers.ts';

/** Starts several processes that serve one address. Each of these processes runs this function. */
export function startSeveral(env: Env): Promise<void> {
  return cluster.isPrimary ? startPrimary(env) : startWorker(env);
}

async function startPrimary(env: Env): Promise<void> {
  await buildConsole();
  const output = logOutput({ isShared: true });
  const log = pino({ level: env.LOG_LEVEL, serializers }, output);
  const metricsUrl = await listenForMetrics(() => workers.metrics(), log, env);
  const workers = startWorkers({
    count: env.PLANT_STORE_PROCESSES,
    log,
    onListening: (listening) => output.write(welcome(env, { ...listening, metricsUrl })),
    async onEnd(exitCode) {
      await output.settle();
      process.exit(exitCode);
    },
  });
  onStopSignal((signal) => workers.stop(signal));
}

async function startWorker(env: Env): Promise<void> {
  const state: { prepared?: PreparedServer } = {};
  const worker = becomeWorker({
    async isReady() {
      const { server } = state.prepared ?? {};
      await server?.store.ready();
      return server?.isClosing === false;
    },
    metrics: async () => (await state.prepared?.metrics?.values()) ?? [],
  });
  state.prepared = await prepareServer(env, { worker });
  await worker.listening(await listen(state.prepared, env, worker.signals));
}
