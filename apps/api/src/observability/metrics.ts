import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { PlantStore } from '@plant-store/core';
import {
  databaseCode,
  describeStatement,
  type StatementObserver,
  statementObservers,
} from '@plant-store/core/internal';
import type { FastifyRequest } from 'fastify';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

export type Metrics = ReturnType<typeof createMetrics>;

/** In seconds. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Milliseconds between two reads of a state. These reads show a database error even in an idle instance. */
const interval = 15_000;

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
  const statements = new Histogram({
    name: 'db_client_operation_duration_seconds',
    help: 'Time from sending a statement to the response of the database',
    labelNames: ['db_system_name', 'db_operation_name', 'db_collection_name', 'error_type'],
    buckets,
    registers,
  });
  const lostLines = new Counter({
    name: 'plant_store_log_lines_lost_total',
    help: 'Lines of the log that were lost, because standard output did not take them in time',
    registers,
  });
  statementObservers.add(statementTimer(statements));
  addStoreGauges(store, registers);
  addConnectionGauges(store, registers);
  addProcessMetrics(registers);
  return {
    /** @param seconds until the end of the response, or until the request began to wait for changes */
    countRequest(
      { method, is404, routeOptions, errors }: FastifyRequest,
      status: number,
      seconds: number,
    ) {
      const error = errors?.find((each) => each.status >= 500)?.code;
      requests.observe(
        {
          // Node knows many methods. Requests without a route share one, so that clients add no time series.
          http_request_method: is404 ? '_OTHER' : method,
          ...(routeOptions.url !== undefined && { http_route: routeOptions.url }),
          http_response_status_code: status,
          ...(error !== undefined && { error_type: error }),
        },
        seconds,
      );
    },
    countLostLine: () => lostLines.inc(),
    contentType: register.contentType,
    /** Returns the values of all metrics in Prometheus's text format. */
    text: () => register.metrics(),
  };
}

/** Measures the statements of all stores in this process. */
function statementTimer(duration: Histogram): StatementObserver {
  return ({ text }) => {
    const { operation, table } = describeStatement(text);
    const end = duration.startTimer({
      db_system_name: 'postgresql',
      db_operation_name: operation,
      ...(table !== undefined && { db_collection_name: table }),
    });
    return (error) => {
      end(error === undefined ? {} : { error_type: databaseCode(error) ?? '_OTHER' });
    };
  };
}

function addStoreGauges(store: PlantStore, registers: Registry[]): void {
  const isUp = readAtIntervals(0, () =>
    store.ready().then(
      () => 1,
      () => 0,
    ),
  );
  const failing = readAtIntervals(0, () => store.webhooks.failing());
  const overdue = () => store.pools().reduce((sum, pool) => sum + pool.overdue, 0);
  const ahead = () => (store.pools()[0]?.clockAhead ?? 0) / 1_000;
  const gauges: [name: string, help: string, read: () => number][] = [
    ['database_up', 'Whether the database responds and has the tables', isUp],
    ['database_clock_ahead_seconds', 'The clock of the database minus the own clock', ahead],
    ['queue_waiting', 'Creates that wait for a statement', () => store.pending().waiting],
    ['unsettled_writes', 'Statements that still run after their requests got 50300', overdue],
    [
      'feed_lag_seconds',
      'Time for which a running transaction has hidden changes',
      () => store.feed().heldBackFor / 1_000,
    ],
    ['webhooks_failing', 'Webhooks that do not accept the changes', failing],
  ];
  for (const [name, help, read] of gauges) {
    new Gauge({
      name: `plant_store_${name}`,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  }
}

/** Calls `read` at intervals. Returns a function that returns the latest result of `read`. */
function readAtIntervals(first: number, read: () => Promise<number>): () => number {
  let value = first;
  const renew = async () => {
    value = await read().catch(() => value);
  };
  void renew();
  setInterval(renew, interval).unref();
  return () => value;
}

function addConnectionGauges(store: PlantStore, registers: Registry[]): void {
  const pool = 'db_client_connection_pool_name';
  const state = 'db_client_connection_state';
  new Gauge({
    name: 'db_client_connection_count',
    help: 'Connections to the database that are used or idle',
    labelNames: [pool, state],
    registers,
    collect() {
      for (const { name, used, idle } of store.pools()) {
        this.set({ [pool]: name, [state]: 'used' }, used);
        this.set({ [pool]: name, [state]: 'idle' }, idle);
      }
    },
  });
  new Gauge({
    name: 'db_client_connection_pending_requests',
    help: 'Statements that wait for a connection',
    labelNames: [pool],
    registers,
    collect() {
      for (const { name, waiting } of store.pools()) this.set({ [pool]: name }, waiting);
    },
  });
}

function addProcessMetrics(registers: Registry[]): void {
  const delay = monitorEventLoopDelay();
  delay.enable();
  new Gauge({
    name: 'nodejs_eventloop_delay_p99_seconds',
    help: 'The 99th percentile of the delay of the event loop since the last scrape',
    registers,
    collect() {
      this.set(delay.percentile(99) / 1e9);
      delay.reset();
    },
  });
  new Counter({
    name: 'process_cpu_time_seconds_total',
    help: 'CPU time of the process',
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
  new Gauge({
    name: 'process_memory_usage_bytes',
    help: 'Resident memory of the process',
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
}
