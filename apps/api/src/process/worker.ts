import { EventEmitter } from 'node:events';
import type { MetricValues } from '../observability/metrics.ts';
import type { ServerOptions } from '../server.ts';
import { openChannel } from './channel.ts';

export interface WorkerProcess extends NonNullable<ServerOptions['processes']> {
  /** Emits the signals that the primary got. */
  readonly signals: EventEmitter;
  /** Tells the primary that this process serves. */
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
    // If the primary has ended, the worker sends its responses without waiting.
    closed: () => call('closed', undefined).catch(() => {}),
    listening: (details) => call('listening', details),
  };
}

/** The message of a worker that has begun to serve. */
export interface Listening {
  url: string;
  /** The reason and the advice when the database does not respond. */
  databaseError: string | undefined;
}

/** The functions of a worker that the primary calls. */
export type WorkerFunctions = {
  /** Stops the worker as this signal stops a single process. */
  stop(signal: NodeJS.Signals): void;
  isReady(argument: undefined): Promise<boolean>;
  metrics(argument: undefined): Promise<MetricValues>;
};

/** The functions of the primary that a worker calls. */
export type PrimaryFunctions = {
  listening(details: Listening): void;
  areAllReady(argument: undefined): Promise<boolean>;
  /** During a shutdown, the promise resolves when every worker has stopped listening. */
  closed(argument: undefined): Promise<void> | undefined;
};
