import { EventEmitter } from 'node:events';
import type { MetricValues } from '../observability/metrics.ts';
import type { ServerOptions } from '../server.ts';
import { openChannel } from './channel.ts';

export interface WorkerProcess extends NonNullable<ServerOptions['processes']> {
  /** Emits the signals that the primary got. */
  readonly signals: EventEmitter;
  /** Tells the primary that this process serves requests. */
  listening(details: Listening): Promise<void>;
}

/** Makes this process a worker, which runs the functions that the primary calls. */
export function becomeWorker(state: Omit<WorkerFunctions, 'stop'>): WorkerProcess {
  const signals = new EventEmitter();
  const functions: WorkerFunctions = { ...state, stop: (signal) => void signals.emit(signal) };
  const call = openChannel<PrimaryFunctions>(process, functions);
  return {
    signals,
    areAllReady: () => call('areAllReady', undefined).catch(() => false),
    // If the primary has ended, `closed` resolves at once, and this worker does not wait for other workers.
    closed: () => call('closed', undefined).catch(() => {}),
    listening: (details) => call('listening', details),
  };
}

/** The message of a worker that has begun to serve. */
export interface Listening {
  url: string;
  /** Why the database does not respond, and what to do. Undefined when the database responds. */
  databaseError: string | undefined;
}

/** The primary calls these functions of a worker. */
export type WorkerFunctions = {
  /** Stops the worker as `signal` stops a server that has no workers. */
  stop(signal: NodeJS.Signals): void;
  isReady(argument: undefined): Promise<boolean>;
  metrics(argument: undefined): Promise<MetricValues>;
};

/** A worker calls these functions of the primary. */
export type PrimaryFunctions = {
  listening(details: Listening): void;
  areAllReady(argument: undefined): Promise<boolean>;
  /** Reports that this worker does not listen any more. In a shutdown, resolves when no worker listens. */
  closed(argument: undefined): Promise<void> | undefined;
};
