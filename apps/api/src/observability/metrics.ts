import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { PlantStore } from '@plant-store/core';
import { databaseCode, describeStatement, statementObservers } from '@plant-store/core/internal';
import { httpStatus } from '@plant-store/schemas';
import type { FastifyRequest } from 'fastify';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

export type Metrics = ReturnType<typeof createMetrics>;

/** In seconds. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * Makes the metrics of a server. OpenTelemetry's conventions define the names without `plant_store`. Labels
 * never contain a text that a client chose, so the number of time series is limited.
 */
export function createMetrics(store: PlantStore) {
  const register = new Registry();
  const registers = [register];
  const requests = new Histogram({
    name: 'http_server_request_duration_seconds',
    help: 'Time from a request to the end of its response, without a wait for changes',
    labelNames: ['http_request_method', 'http_route', 'http_response_status_code', 'error_type'],
    buckets,
    registers,
  });
  const lostLines = new Counter({
    name: 'plant_store_log_lines_lost_total',
    help: 'Lines of the log that were lost, because standard output did not take them in time',
    registers,
  });
  measureStatements(registers);
  addGauges(store, registers);
  return {
    /** @param seconds until the end of the response, or until the request began to wait for changes */
    countRequest(request: FastifyRequest, status: number, seconds: number): void {
      const { method, is404, routeOptions, errors } = request;
      const error = errors?.find(({ kind }) => httpStatus(kind) >= 500)?.code;
      const labels = {
        // Requests to unknown paths may have any method, and each method would make a time series.
        http_request_method: is404 ? '_OTHER' : method,
        ...(routeOptions.url !== undefined && { http_route: routeOptions.url }),
        http_response_status_code: status,
        ...(error !== undefined && { error_type: error }),
      };
      requests.observe(labels, seconds);
    },
    countLostLine: () => lostLines.inc(),
    /** Serves the metrics on a port of their own, because Prometheus has no token. Returns their URL. */
    listen: (host: string, port = 0) => serve(register, host, port),
  };
}

/** Measures the statements of all stores in this process. */
function measureStatements(registers: Registry[]): void {
  const duration = new Histogram({
    name: 'db_client_operation_duration_seconds',
    help: 'Time from sending a statement to the response of the database',
    labelNames: ['db_system_name', 'db_operation_name', 'db_collection_name', 'error_type'],
    buckets,
    registers,
  });
  statementObservers.add(({ text }) => {
    const { operation, table } = describeStatement(text);
    const end = duration.startTimer({
      db_system_name: 'postgresql',
      db_operation_name: operation,
      ...(table !== undefined && { db_collection_name: table }),
    });
    return (error) => {
      end(error === undefined ? {} : { error_type: databaseCode(error) ?? '_OTHER' });
    };
  });
}

/** Each request of Prometheus reads these values, so even an idle instance shows that its database is down. */
function addGauges(store: PlantStore, registers: Registry[]): void {
  const delay = monitorEventLoopDelay();
  delay.enable();
  const readDelay = () => {
    const nanoseconds = delay.percentile(99);
    delay.reset();
    return nanoseconds / 1e9;
  };
  const overdue = () => store.pool().overdue;
  const clockAhead = () => store.pool().clockAhead / 1_000;
  const lag = () => store.feed.readEnd().then(() => store.feed.heldBackFor / 1_000);

  gauge('db_client_connection_pending_requests', 'Waiting statements', () => store.pool().waiting);
  gauge('plant_store_database_up', 'Whether the database responds', () =>
    store.ready().then(() => 1),
  );
  gauge('plant_store_database_clock_ahead_seconds', 'Database clock minus own clock', clockAhead);
  gauge('plant_store_queue_waiting', 'Waiting creates', () => store.pending().waiting);
  gauge('plant_store_unsettled_writes', 'Statements after their deadline', overdue);
  gauge('plant_store_feed_lag_seconds', 'Time for which a transaction has hidden changes', lag);
  gauge('plant_store_webhooks_failing', 'Failing webhooks', () => store.webhooks.failing());
  gauge('nodejs_eventloop_delay_p99_seconds', 'Delay since the last reading', readDelay);
  gauge('process_memory_usage_bytes', 'Resident memory', () => process.memoryUsage.rss());

  function gauge(name: string, help: string, read: () => number | Promise<number>): void {
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        const value = (async () => read())();
        this.set(await value.catch(() => 0));
      },
    });
  }
}

async function serve(register: Registry, host: string, port: number): Promise<string> {
  const server = createServer(async ({ url }, response) => {
    if (url !== '/metrics') return response.writeHead(404).end('the only path is /metrics\n');
    const headers = { 'content-type': register.contentType };
    return response.writeHead(200, headers).end(await register.metrics());
  });
  server.maxConnections = 8; // Further connections would take file descriptors from the clients.
  await once(server.listen(port, host), 'listening');
  const { address, family, port: chosen } = server.address() as AddressInfo; // Not a Unix socket.
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${chosen}/metrics`;
}
