import { EventEmitter } from 'node:events';
import type { MetricValues } from '../observability/metrics.ts';
import { openChannel } from './channel.ts';

/** This process, as one of several that serve one address. */
export interface WorkerProcess {
  /** Emits the signals that the primary got. */
  readonly signals: EventEmitter;
  /** Whether all processes are ready. */
  areAllReady(): Promise<boolean>;
  /** Resolves when no process accepts connections for this one, after it has stopped listening. */
  closed(): Promise<void>;
  /** Tells the primary that this process serves. */
  listening(details: Listening): Promise<void>;
}

/** What the primary asks a worker for. */
interface WorkerState {
  isReady(): Promise<boolean>;
  metrics(): Promise<MetricValues>;
}

/** Makes this process a worker: it does what the primary calls. */
export function becomeWorker({ isReady, metrics }: WorkerState): WorkerProcess {
  const signals = new EventEmitter();
  const functions: WorkerFunctions = {
    stop: (signal) => void signals.emit(signal),
    isReady,
    metrics,
  };
  const call = openChannel<PrimaryFunctions>(process, functions);
  return {
    signals,
    areAllReady: () => call('areAllReady', undefined).catch(() => false),
    closed: () => call('closed', undefined).catch(() => {}), // The replies must not wait longer.
    listening: (details) => call('listening', details),
  };
}

/** What a worker tells when it serves. */
export interface Listening {
  url: string;
  /** Why the database does not answer, and what to do; undefined when it does. */
  databaseError: string | undefined;
}

/** What the primary calls in a worker. */
export type WorkerFunctions = {
  /** Stops the worker as a process that gets this signal. */
  stop(signal: NodeJS.Signals): void;
  isReady(argument: undefined): Promise<boolean>;
  metrics(argument: undefined): Promise<MetricValues>;
};

/** What a worker calls in the primary. */
export type PrimaryFunctions = {
  listening(details: Listening): void;
  areAllReady(argument: undefined): Promise<boolean>;
  /**
   * The worker has stopped listening, and this process knows it, because messages arrive in order. When
   * all workers stop, it resolves when nobody listens: no client connects to a worker that is about to.
   */
  closed(argument: undefined): Promise<void> | undefined;
};
