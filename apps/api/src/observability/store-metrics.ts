import { readFileSync } from 'node:fs';
import type { PlantStore } from '@plant-store/core';
import {
  databaseCode,
  describeStatement,
  diagnostics,
  type TracedStatement,
} from '@plant-store/core/internal';
import { Gauge, Histogram, type Registry } from 'prom-client';

/** In seconds. */
export const durationBuckets = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

export function watchStore(store: PlantStore, registers: Registry[]): void {
  const batchPlants = new Histogram({
    name: 'plant_store_insert_batch_plants',
    help: 'Plants in one insert statement',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 512, 2048],
    registers,
  });
  store.events.on('batch', ({ size }) => batchPlants.observe(size));
  watchStatements(registers);
  watchConnections(store, registers);
  buildInfo(registers);
  const isDatabaseUp = readAtIntervals(false, () =>
    store.ready().then(
      () => true,
      () => false,
    ),
  );
  const webhooks = readAtIntervals(0, () => store.webhooks.failing());
  const gauges: [name: string, help: string, read: () => number][] = [
    [
      'database_up',
      'Whether the database responds and has the tables, read every 15 s',
      () => Number(isDatabaseUp()),
    ],
    ['time_seconds', 'The clock of the machine, in seconds since 1970', () => Date.now() / 1000],
    [
      'database_clock_ahead_seconds',
      'Time by which the clock of the database is ahead of the clock of the machine',
      () => (store.pools()[0]?.clockAhead ?? 0) / 1_000,
    ],
    ['queue_waiting', 'Creates that wait for a statement', () => store.pending().waiting],
    [
      'queue_in_flight',
      'Creates in statements that the database has not responded to yet',
      () => store.pending().inFlight,
    ],
    [
      'unsettled_writes',
      'Statements that are still in a commit after their requests got error 50300',
      () => store.pools().reduce((sum, { overdue }) => sum + overdue, 0),
    ],
    ['feed_waiting', 'Requests that wait for changes', () => store.feed().waiting],
    [
      'webhooks_failing',
      'Webhooks that do not accept the changes, read every 15 s',
      () => webhooks(),
    ],
    [
      'feed_lag_seconds',
      'Time for which a transaction that still runs has hidden changes',
      () => store.feed().heldBackFor / 1000,
    ],
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

/** Milliseconds between two reads of a state. These reads show a database error even in an idle instance. */
const interval = 15_000;

/** Calls `read` at intervals. Returns a function that returns the latest result of `read`. */
function readAtIntervals<State>(first: State, read: () => Promise<State>): () => State {
  let state = first;
  const renew = async () => {
    state = await read().catch(() => state);
  };
  void renew();
  setInterval(renew, interval).unref();
  return () => state;
}

/** Measures the SQL statements of all stores in this process, which share one diagnostics channel. */
function watchStatements(registers: Registry[]): void {
  const duration = new Histogram({
    name: 'db_client_operation_duration_seconds',
    help: 'Time from sending a statement to the response of the database',
    labelNames: ['db_system_name', 'db_operation_name', 'db_collection_name', 'error_type'],
    buckets: durationBuckets,
    registers,
  });
  diagnostics.statement.asyncEnd.subscribe((message) => {
    const { text, startedAt, error } = message as TracedStatement; // Channel messages have no type.
    const { operation, table } = describeStatement(text);
    const labels = {
      db_system_name: 'postgresql',
      db_operation_name: operation,
      ...(table !== undefined && { db_collection_name: table }),
      ...(error !== undefined && { error_type: databaseCode(error) ?? '_OTHER' }),
    };
    duration.observe(labels, (performance.now() - startedAt) / 1_000);
  });
}

/** Counts the connections of each pool. OpenTelemetry defines the names of these metrics. */
function watchConnections(store: PlantStore, registers: Registry[]): void {
  const pool = 'db_client_connection_pool_name';
  const state = 'db_client_connection_state';
  new Gauge({
    name: 'db_client_connection_count',
    help: 'Connections to the database that are in use or idle',
    labelNames: [pool, state],
    registers,
    collect() {
      this.reset();
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
      this.reset();
      for (const { name, waiting } of store.pools()) this.set({ [pool]: name }, waiting);
    },
  });
}

function buildInfo(registers: Registry[]): void {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const { version }: { version: string } = JSON.parse(manifest);
  const labels = { version, node: process.versions.node };
  new Gauge({
    name: 'plant_store_build_info',
    help: 'Always 1. The labels have the versions of the server and of Node',
    labelNames: Object.keys(labels),
    registers,
  }).set(labels, 1);
}
