import cluster, { type Worker } from 'node:cluster';
import type { FastifyBaseLogger } from 'fastify';
import { closeUntakenConnections } from '../connections/untaken-connections.ts';
import { type Call, openChannel } from './channel.ts';
import type { Listening, PrimaryFunctions, WorkerFunctions } from './worker.ts';

interface WorkersOptions {
  count: number;
  log: FastifyBaseLogger;
  /** Runs when all workers serve requests for the first time. */
  onListening(details: Listening): void;
  /** Runs when the last worker has stopped, or when the first worker cannot start. */
  onEnd(exitCode: number): void;
}

/** A worker that dies within these milliseconds after its start counts as a failed start. */
const startTime = 60_000;

/**
 * Starts several workers that serve one address together, and replaces a worker that dies. The first worker
 * starts alone. If an error would stop every worker, only the first worker prints the error.
 */
export function startWorkers({ count, log, onListening, onEnd }: WorkersOptions) {
  const all = new Set<Worker>();
  /** The workers that serve requests, each with the function that calls the worker. */
  const serving = new Map<Worker, Call<WorkerFunctions>>();
  const listening = new Set<Worker>();
  const allClosed = Promise.withResolvers<void>();
  let hasServed = false;
  let isAnnounced = false;
  let stopSignal: NodeJS.Signals | undefined;
  let exitCode = 0;

  cluster.setupPrimary({ args: [] }); // Only the primary reads the arguments of the command line.
  startWorker(0);

  return {
    /** Stops all workers. Each worker stops as `signal` stops a server that has no workers. */
    stop(signal: NodeJS.Signals): void {
      stopSignal = signal;
      for (const worker of all) stopWorker(worker, signal);
      if (all.size === 0) onEnd(exitCode);
    },
    metrics: () => askAll((call) => call('metrics', undefined)),
  };

  /** @param failures how many times in a row this worker's predecessors died within `startTime` */
  function startWorker(failures: number): void {
    if (stopSignal) return;
    const worker = cluster.fork();
    const startedAt = performance.now();
    const functions: PrimaryFunctions = {
      areAllReady,
      closed() {
        stoppedListening(worker);
        return stopSignal && allClosed.promise;
      },
      listening(details) {
        serving.set(worker, call);
        listening.add(worker);
        if (stopSignal) return stopWorker(worker, stopSignal);
        if (!hasServed) for (let i = 1; i < count; i++) startWorker(0);
        hasServed = true;
        if (isAnnounced || serving.size < count) return;
        isAnnounced = true;
        onListening(details);
      },
    };
    const call = openChannel<WorkerFunctions>(worker, functions);
    closeUntakenConnections(worker);
    all.add(worker);
    worker.on('exit', (code, signal) => {
      all.delete(worker);
      const wasServing = serving.delete(worker);
      stoppedListening(worker);
      if (stopSignal) {
        if (wasServing && code !== 0) exitCode = 1;
        if (all.size === 0) onEnd(exitCode);
        return;
      }
      if (!hasServed) return onEnd(code || 1);
      const lived = performance.now() - startedAt;
      const failed = lived < startTime ? failures + 1 : 0;
      const delay = restartDelay(failed);
      log.error(
        { died: worker.process.pid, code, signal, delay },
        'a process died: another one starts',
      );
      setTimeout(startWorker, delay, failed);
    });
  }

  function stopWorker(worker: Worker, signal: NodeJS.Signals): void {
    const call = serving.get(worker);
    if (call)
      call('stop', signal).catch(() => {}); // A worker that has ended cannot respond to `stop`.
    // A worker that does not serve yet has no requests, so a signal may end the worker immediately.
    else worker.process.kill(signal);
  }

  function stoppedListening(worker: Worker): void {
    listening.delete(worker);
    if (stopSignal && listening.size === 0) allClosed.resolve();
  }

  async function areAllReady(): Promise<boolean> {
    if (serving.size < count) return false;
    return (await askAll((call) => call('isReady', undefined))).every(Boolean);
  }

  function askAll<T>(ask: (call: Call<WorkerFunctions>) => Promise<T>): Promise<T[]> {
    return Promise.all([...serving.values()].map(ask));
  }
}

/** Returns the milliseconds that the primary waits before it replaces a worker: none after one failure. */
function restartDelay(failures: number): number {
  return failures < 2 ? 0 : Math.min(30_000, 500 * 2 ** (failures - 1));
}
