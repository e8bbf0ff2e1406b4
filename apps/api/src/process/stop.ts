import { setTimeout } from 'node:timers/promises';
import { isatty } from 'node:tty';
import type { FastifyInstance } from 'fastify';
import type { LogOutput } from '../observability/log-output.ts';

interface RunningServer {
  server: FastifyInstance;
  /** Milliseconds for which the server accepts requests after SIGTERM. */
  drainDelay: number;
  logOutput: LogOutput;
}

/** Milliseconds for which a closing server waits for its last responses, after the drain delay. */
const responseTimeout = 6_000;

/** Milliseconds that the store may take to cancel running statements and to close its database. */
const storeTimeout = 2_000;

/**
 * Until the server listens, makes a stop signal end the process immediately. Without a listener, the first
 * process of a container (PID 1) ignores this signal.
 */
export function exitOnSignals(): void {
  for (const signal of stopSignals) process.on(signal, exit);
  process.on('SIGHUP', () => {}); // Without a listener, Node would end the process on SIGHUP.
}

/** Without a terminal, SIGHUP comes from logrotate or `nohup`, and must not stop the process. */
const terminalSignals = [0, 1, 2].some(isatty) ? (['SIGHUP'] as const) : [];

const stopSignals = ['SIGINT', 'SIGTERM', ...terminalSignals] as const;

const exit = () => process.exit();

/**
 * Calls `stop` at the first signal that stops the process. A second signal ends the process immediately.
 * Returns a function that calls `stop` if `stop` has not been called yet.
 */
function onStopSignal(stop: (signal: NodeJS.Signals) => void): (signal: NodeJS.Signals) => void {
  let isStopping = false;
  for (const signal of stopSignals) {
    process.on(signal, () => {
      // A terminal that closes may send SIGHUP several times.
      if (isStopping && signal !== 'SIGHUP') process.exit(1);
      stopOnce(signal);
    });
  }
  // Removes the listeners of `exitOnSignals` last, because Node loses a signal that arrives while there is no
  // listener.
  for (const signal of stopSignals) process.off(signal, exit);
  return stopOnce;

  function stopOnce(signal: NodeJS.Signals): void {
    if (isStopping) return;
    isStopping = true;
    stop(signal);
  }
}

/**
 * After a stop signal or an uncaught exception, ends the process when the server has responded to all
 * requests. After an uncaught exception, the state of the process is unknown, so the exit code is 1.
 */
export function stopOnSignals({ server, drainDelay, logOutput }: RunningServer): void {
  // Only SIGTERM has a drain delay. SIGINT and SIGHUP come from a user who waits at a terminal.
  const stopOnce = onStopSignal((signal) => void stop(signal === 'SIGTERM' ? drainDelay : 0));
  // Node emits `uncaughtException` even for unhandled rejections.
  process.on('uncaughtException', (thrown) => {
    logFatal(thrown);
    stopOnce('SIGTERM');
  });

  async function stop(delay: number): Promise<void> {
    server.drainDelay = delay;
    try {
      // A client that never sends the rest of its request must not delay the exit.
      await Promise.race([server.close(), setTimeout(delay + responseTimeout)]);
      await Promise.race([server.store.close(), setTimeout(storeTimeout)]);
    } catch (error) {
      logFatal(error);
    }
    await logOutput.settle();
    process.exit();
  }

  function logFatal(thrown: unknown): void {
    const isError = thrown instanceof Error;
    const err = isError ? thrown : new Error(`a value was thrown, not an error (${typeof thrown})`);
    server.log.fatal({ err }, 'an uncaught exception stops the process');
    process.exitCode = 1;
  }
}
