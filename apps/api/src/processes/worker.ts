import { EventEmitter } from 'node:events';
import type { MetricValues } from '../observability/metrics.ts';
import type { Listening, PrimaryFunctions, WorkerFunctions } from './calls.ts';
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
