import type { PlantStore } from '@plant-store/core';
import { databaseCode } from '@plant-store/core/internal';
import { errorCatalogue } from '@plant-store/schemas';
import type { FastifyRequest } from 'fastify';
import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';
import type { HttpError } from '../errors/http-error.ts';
import { durationBuckets, watchStore } from './store-metrics.ts';

export type Metrics = ReturnType<typeof createMetrics>;

/** Labels never contain a text that a client chose, so the number of time series is limited. */
export function createMetrics(store: PlantStore) {
  const register = new Registry();
  const registers = [register];
  collectNodeMetrics(register);
  watchStore(store, registers);
  const requestDuration = new Histogram<string>({
    name: 'http_server_request_duration_seconds',
    help: 'Time from a request to the end of its response',
    labelNames: ['http_request_method', 'http_route', 'http_response_status_code', 'error_type'],
    buckets: durationBuckets,
    registers,
  });
  const lostLines = new Counter({
    name: 'plant_store_log_lines_lost_total',
    help: 'Lines of the log that were not written, because standard output did not take them in time',
    registers,
  });
  // Finds a time series by its labels in less time than prom-client.
  const seriesByLabels = new Map<string, Histogram.Internal<string>>();

  return {
    countRequest(request: FastifyRequest, status: number, milliseconds: number): void {
      // Node knows many methods. Requests without a route share the method `_OTHER`, so that clients cannot
      // create a time series for each method.
      const { url: route } = request.routeOptions;
      const method = request.is404 ? '_OTHER' : request.method;
      const error = request.errors?.find(({ status }) => status >= 500)?.code;
      const labels = {
        http_request_method: method,
        ...(route !== undefined && { http_route: route }),
        http_response_status_code: status,
        ...(error !== undefined && { error_type: error }),
      };
      const key = `${method} ${route} ${status} ${error}`;
      const series = seriesByLabels.get(key) ?? requestDuration.labels(labels);
      seriesByLabels.set(key, series);
      series.observe(milliseconds / 1000);
    },
    countError: errorCounter(registers),
    countLostLine: () => lostLines.inc(),
    contentType: register.contentType,
    /** Returns the values of all metrics in Prometheus's text format. */
    text: () => register.metrics(),
  };
}

function collectNodeMetrics(register: Registry): void {
  collectDefaultMetrics({ register });
  // Prometheus reserves the suffix `_total` for counters, and these metrics are gauges.
  for (const { name } of register.getMetricsAsArray()) {
    if (/^nodejs_active_\w+_total$/.test(name)) register.removeSingleMetric(name);
  }
}

function errorCounter(registers: Registry[]) {
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
  return ({ code, kind, cause }: HttpError): void => {
    errors.inc({ code });
    if (kind === 'databaseUnavailable' || kind === 'plantRejected') {
      databaseErrors.inc({ sqlstate: databaseCode(cause) ?? 'none' });
    }
  };
}
