import type { PlantStore } from '@plant-store/core';
import { databaseCode } from '@plant-store/core/internal';
import { errorCatalogue } from '@plant-store/schemas';
import type { FastifyRequest } from 'fastify';
import {
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  Registry,
} from 'prom-client';
import type { HttpError } from '../errors/http-error.ts';
import { unwritableRatio } from './cluster-log.ts';
import { watchDatabase, watchWebhooks } from './watch-database.ts';

/** The metrics of a server and its store, for Prometheus. */
export interface Metrics {
  /** Counts a finished request. */
  countRequest(request: FastifyRequest, status: number, milliseconds: number): void;
  /** Counts an error that a client got. */
  countError(error: HttpError): void;
  /** Counts a line of the log that was not written. */
  countLostLine(): void;
  /** Returns the values of these metrics and of Node's own metrics. */
  values(): Promise<MetricValues>;
}

/** The metrics of one process. */
export type MetricValues = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

export function sumMetrics(processes: MetricValues[]): Promise<string> {
  return AggregatorRegistry.aggregate(processes).metrics();
}

/** No label has a value that a client chooses, so the number of series is bounded. */
export function createMetrics(store: PlantStore): Metrics {
  const register = new Registry();
  const registers = [register];
  collectDefaultMetrics({ register });
  // For several processes, prom-client would omit the start time. `max` gives the latest start time.
  const startTime: object = register.getSingleMetric('process_start_time_seconds') ?? {};
  Object.assign(startTime, { aggregator: 'max' });
  watchStore(store, registers);
  const requestDuration = new Histogram({
    name: 'plant_store_request_duration_seconds',
    help: 'Time from a request to the end of its response',
    labelNames: ['route', 'method', 'status'],
    buckets: durationBuckets,
    registers,
  });
  const lostLines = new Counter({
    name: 'plant_store_log_lines_lost_total',
    help: 'Lines of the log that were not written, because standard output did not take them in time',
    registers,
  });
  // This cache saves time, because prom-client finds a series by its labels more slowly.
  const seriesByLabels = new Map<string, Histogram.Internal<string>>();

  return {
    countRequest(request, status, milliseconds) {
      // Requests without a route share a series, because clients can send each of the many methods that
      // Node knows.
      const { url: route = 'none' } = request.routeOptions;
      const method = request.is404 ? 'any' : request.method;
      const key = `${method} ${route} ${status}`;
      const series = seriesByLabels.get(key) ?? requestDuration.labels({ route, method, status });
      seriesByLabels.set(key, series);
      series.observe(milliseconds / 1000);
    },
    countError: errorCounter(registers),
    countLostLine: () => lostLines.inc(),
    values: () => register.getMetricsAsJSON(),
  };
}

/** In seconds. */
const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

function watchStore(store: PlantStore, registers: Registry[]): void {
  const batchSize = new Histogram({
    name: 'plant_store_batch_size',
    help: 'Plants in one statement',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128],
    registers,
  });
  const batchDuration = new Histogram({
    name: 'plant_store_batch_duration_seconds',
    help: 'Time from sending a statement to its commit',
    buckets: durationBuckets,
    registers,
  });
  store.events.on('batch', ({ size, milliseconds }) => {
    batchSize.observe(size);
    batchDuration.observe(milliseconds / 1000);
  });
  const isDatabaseUp = watchDatabase(store);
  const webhooks = watchWebhooks(store);
  const gauges: [name: string, help: string, read: () => number, aggregator?: 'max' | 'min'][] = [
    [
      'database_up',
      'Whether the database responds and has the tables, read every 15 s',
      () => Number(isDatabaseUp()),
      'min',
    ],
    ['processes', 'Processes that serve the address of the instance', () => 1],
    ['creates_waiting', 'Creates that wait for a statement', () => store.pending().waiting],
    [
      'creates_in_flight',
      'Creates in statements that the database has not responded to yet',
      () => store.pending().inFlight,
    ],
    [
      'unsettled_writes',
      'Statements that are still in a commit after their requests got error 50300',
      () => store.pending().unsettled,
    ],
    ['feed_waiting', 'Requests that wait for changes', () => store.feed().waiting],
    [
      'feed_held_back_seconds',
      'Time for which a transaction that still runs has hidden changes',
      () => store.feed().heldBackFor / 1000,
      'max',
    ],
    [
      'webhook_lag_seconds',
      'The longest time for which a webhook may lack changes, read every 15 s',
      () => webhooks().lag,
      'max',
    ],
    [
      'webhooks_failing',
      'Webhooks that do not accept the changes, read every 15 s',
      () => webhooks().failing,
      'max',
    ],
    [
      'unwritable_ratio',
      'The part of all ids whose node in a cluster cannot be written',
      () => unwritableRatio(store),
      'max',
    ],
  ];
  for (const [name, help, read, aggregator = 'sum'] of gauges) {
    new Gauge({
      name: `plant_store_${name}`,
      help,
      aggregator,
      registers,
      collect() {
        this.set(read());
      },
    });
  }
}

function errorCounter(registers: Registry[]): Metrics['countError'] {
  const errors = new Counter({
    name: 'plant_store_errors_total',
    help: 'Errors that clients got, by error code',
    labelNames: ['code'],
    registers,
  });
  // Every series starts at 0, because Prometheus computes no rate for the increment that creates a series.
  for (const { code } of Object.values(errorCatalogue)) errors.inc({ code }, 0);
  const databaseErrors = new Counter({
    name: 'plant_store_database_errors_total',
    help: 'Requests that failed in the database, by SQLSTATE or the code of the connection error',
    labelNames: ['sqlstate'],
    registers,
  });
  return ({ code, kind, cause }) => {
    errors.inc({ code });
    if (kind === 'databaseUnavailable' || kind === 'plantRejected') {
      databaseErrors.inc({ sqlstate: databaseCode(cause) ?? 'none' });
    }
  };
}
