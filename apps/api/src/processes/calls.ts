import type { MetricValues } from '../observability/metrics.ts';

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
