import { type PlantStore, type PlantStoreError, sqlState } from '@plant-store/core';
import { errorCatalogue } from '@plant-store/schemas';
import type { FastifyRequest } from 'fastify';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

declare module 'fastify' {
  interface FastifyInstance {
    /** Where it is counted what this server does, if anywhere. */
    metrics?: Metrics;
  }
}

/** What is counted of a store and its server, for Prometheus. */
export interface Metrics {
  /** Counts a request that is over. */
  countRequest(request: FastifyRequest, status: number, milliseconds: number): void;
  /** Counts what went wrong with a request, or with what never was one. */
  countError(failure: PlantStoreError): void;
  /** All of it and Node's own metrics, in Prometheus's text format. */
  text(): Promise<string>;
}

/** Starts to count what a store does. No label is a client's to choose, so there are only so many series. */
export function createMetrics(store: PlantStore): Metrics {
  const register = new Registry();
  const registers = [register];
  collectDefaultMetrics({ register });
  watchStore(store, registers);
  const countError = errorCounter(registers);
  const requestDuration = new Histogram({
    name: 'plant_store_request_duration_seconds',
    help: 'Time from a request to the end of its answer',
    labelNames: ['route', 'method', 'status'],
    buckets: seconds,
    registers,
  });
  // By what is in the labels: finding them costs more than counting.
  const found = new Map<string, Histogram.Internal<string>>();

  return {
    countRequest(request, status, milliseconds) {
      // Where there is no route, a client could make a series of every method that Node knows.
      const { url: route = 'none' } = request.routeOptions;
      const method = request.is404 ? 'any' : request.method;
      const key = `${method} ${route} ${status}`;
      const series = found.get(key) ?? requestDuration.labels({ route, method, status });
      found.set(key, series);
      series.observe(milliseconds / 1000);
    },
    countError,
    text: () => register.metrics(),
  };
}

const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

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
    buckets: seconds,
    registers,
  });
  store.onBatch(({ size, milliseconds }) => {
    batchSize.observe(size);
    batchDuration.observe(milliseconds / 1000);
  });
  new Gauge({
    name: 'plant_store_creates_waiting',
    help: 'Creates that wait for a statement',
    registers,
    collect() {
      this.set(store.pending().waiting);
    },
  });
  new Gauge({
    name: 'plant_store_creates_in_flight',
    help: 'Creates in statements that the database has not answered',
    registers,
    collect() {
      this.set(store.pending().inFlight);
    },
  });
}

function errorCounter(registers: Registry[]): Metrics['countError'] {
  const errors = new Counter({
    name: 'plant_store_errors_total',
    help: 'Errors that clients were answered with, by their number in the catalogue',
    labelNames: ['error'],
    registers,
  });
  // From the first one on there is a rate: a series that is not there has none.
  for (const { error } of Object.values(errorCatalogue)) errors.inc({ error }, 0);
  const databaseErrors = new Counter({
    name: 'plant_store_database_errors_total',
    help: 'Requests that the database failed, by its SQLSTATE or the code of the connection to it',
    labelNames: ['code'],
    registers,
  });
  return ({ error, kind, cause }) => {
    errors.inc({ error });
    if (kind === 'databaseUnavailable') databaseErrors.inc({ code: sqlState(cause) ?? 'none' });
  };
}
