import {
  type BenchCluster,
  startBenchCluster,
  startPlainPostgres,
} from '../../database/bench-cluster.ts';
import type { Bench } from '../../measurements/bench.ts';
import { decimal } from '../../report/decimal.ts';
import { formatTable } from '../../report/format-table.ts';
import { atLeast, atMost, type Goal, ratio } from '../../report/goals.ts';
import type { Report } from '../../report/report.ts';
import { measureNodes, type NodeCosts } from './measure-nodes.ts';

/** Milliseconds of delay between two nodes, each way. */
const delay = 3;

/** Creates a second at 256 clients with that delay before batches belonged to nodes. */
const earlierCreatesPerSecond = 833;

const clients = 256;

interface Case {
  readonly name: string;
  readonly start: () => Promise<BenchCluster>;
  readonly instancesOn: readonly number[];
  readonly connections: number;
}

const coordinator = [0];
const delayed = () => startBenchCluster({ workers: 2, shards: 8, delay });

const cases = {
  plain: {
    name: 'plain Postgres',
    start: startPlainPostgres,
    instancesOn: [0],
    connections: clients,
  },
  through: {
    name: 'Citus, 2 workers, through the coordinator',
    start: () => startBenchCluster({ workers: 2, shards: 8 }),
    instancesOn: coordinator,
    connections: clients,
  },
  three: {
    name: 'Citus, 3 nodes, an instance on each',
    start: () => startBenchCluster({ workers: 2, shards: 6, coordinatorHasShards: true }),
    instancesOn: [0, 1, 2],
    connections: clients,
  },
  five: {
    name: 'Citus, 5 nodes, an instance on each',
    start: () => startBenchCluster({ workers: 4, shards: 10, coordinatorHasShards: true }),
    instancesOn: [0, 1, 2, 3, 4],
    connections: clients,
  },
  threeBusy: {
    name: 'Citus, 3 nodes, 256 clients for each instance',
    start: () => startBenchCluster({ workers: 2, shards: 6, coordinatorHasShards: true }),
    instancesOn: [0, 1, 2],
    connections: 3 * clients,
  },
  fiveBusy: {
    name: 'Citus, 5 nodes, 256 clients for each instance',
    start: () => startBenchCluster({ workers: 4, shards: 10, coordinatorHasShards: true }),
    instancesOn: [0, 1, 2, 3, 4],
    connections: 5 * clients,
  },
  delayedAlone: {
    name: `Citus, ${delay} ms of delay, 1 client`,
    start: delayed,
    instancesOn: coordinator,
    connections: 1,
  },
  delayed: {
    name: `Citus, ${delay} ms of delay`,
    start: delayed,
    instancesOn: coordinator,
    connections: clients,
  },
} satisfies Record<string, Case>;

type CaseName = keyof typeof cases;

/** Measures what a create costs each node of a Citus cluster, beside the same Postgres without Citus. */
export async function citus(bench: Bench, { quick }: { quick: boolean }): Promise<Report> {
  process.setMaxListeners(50); // Each program that runs has one.
  const durations = quick ? { warmUp: 2, seconds: 3 } : { warmUp: 5, seconds: 8 };
  const rounds = quick ? 1 : 3;
  const entries = Object.entries(cases) as [CaseName, Case][]; // `cases` has these keys.
  const measured = new Map<CaseName, NodeCosts[]>();
  for (let round = 0; round < rounds; round++) {
    for (const [name, { start, instancesOn, connections, name: title }] of entries) {
      // A cluster that only waits takes CPU time, too, so each case starts its own.
      const cluster = await start();
      const costs = await measureNodes(bench, cluster, { instancesOn, connections, ...durations });
      await cluster.stop();
      measured.set(name, [...(measured.get(name) ?? []), costs]);
      bench.progress(`${title}: ${costs.cpu.map((cpu) => cpu.toFixed(1)).join(' ')} µs`);
    }
  }
  const of = (name: CaseName) => medianCosts(measured.get(name) ?? []);
  return {
    text: formatTable(
      [
        'CPU µs of Postgres for a create',
        'coordinator',
        'busiest',
        'sum',
        '÷ plain',
        'creates/s',
        'p50 ms',
      ],
      entries.map(([name, { name: title }]) => row(title, of(name), of('plain'))),
    ),
    goals: goalsOf(of),
    faults: entries.flatMap(([name, { name: title }]) => faultsOf(title, measured.get(name) ?? [])),
    measured: Object.fromEntries(measured),
  };
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

function row(title: string, { cpu, createsPerSecond, p50 }: NodeCosts, plain: NodeCosts): string[] {
  const figures = [cpu[0] ?? 0, Math.max(...cpu), sum(cpu)].map((value) => decimal(value, 1));
  const total = decimal(sum(cpu) / sum(plain.cpu), 2);
  return [title, ...figures, total, decimal(createsPerSecond), decimal(p50, 1)];
}

function goalsOf(of: (name: CaseName) => NodeCosts): Goal[] {
  const plain = sum(of('plain').cpu);
  const through = of('through').cpu;
  const busiest = (name: CaseName) => Math.max(...of(name).cpu);
  return [
    atMost(0.5, "through the coordinator: its CPU ÷ plain's", ratio(through[0], plain)),
    atMost(2.5, "through the coordinator: all nodes' CPU ÷ plain's", ratio(sum(through), plain)),
    atMost(0.6, "three nodes: the busiest one's CPU ÷ plain's", ratio(busiest('three'), plain)),
    atMost(0.4, "five nodes: the busiest one's CPU ÷ plain's", ratio(busiest('five'), plain)),
    atMost(
      0.6,
      'the same on three nodes, 256 clients for each',
      ratio(busiest('threeBusy'), plain),
    ),
    atMost(0.4, 'the same on five nodes, 256 clients for each', ratio(busiest('fiveBusy'), plain)),
    atMost(4, 'p50 of a create ÷ the delay, 1 client', ratio(of('delayedAlone').p50, delay)),
    atLeast(
      10,
      `creates a second with the delay ÷ ${earlierCreatesPerSecond}`,
      ratio(of('delayed').createsPerSecond, earlierCreatesPerSecond),
    ),
  ];
}

function faultsOf(title: string, all: readonly NodeCosts[]): string[] {
  const errors = sum(all.map((costs) => costs.errors));
  const missing = sum(all.map((costs) => costs.missing));
  return [
    ...(errors > 0 ? [`${title}: ${errors} errors`] : []),
    ...(missing > 0 ? [`${title}: ${missing} acknowledged plants are missing`] : []),
  ];
}

/** The round with the median of all nodes' CPU time. */
function medianCosts(all: readonly NodeCosts[]): NodeCosts {
  const sorted = all.toSorted((a, b) => sum(a.cpu) - sum(b.cpu));
  return sorted[sorted.length >> 1] as NodeCosts; // Each case has a round at least.
}
