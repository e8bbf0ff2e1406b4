import { oursRest } from '../contenders/contenders.ts';
import { openCluster, openPlainPostgres } from '../database/bench-cluster.ts';
import type { BenchDatabase } from '../database/bench-database.ts';
import type { Bench } from '../measurements/bench.ts';
import { figureColumn, ratioColumn } from '../measurements/columns.ts';
import { type LoadConditions, type LoadFigures, loadCase } from '../measurements/load-case.ts';
import { type Medians, type Report, runPlan } from '../measurements/run-plan.ts';
import { formatTable } from '../report/format-table.ts';
import { atLeast, atMost, type Goal } from '../report/goals.ts';
import type { ModeOptions } from './mode-options.ts';

/** The delay between two nodes in each direction, in milliseconds. */
const delay = 3;

/** The creates per second with 256 clients in an earlier version, whose batches had plants of all nodes. */
const earlierCreatesPerSecond = 833;

const two = () => openCluster({ workers: 2, shards: 8 });
const three = () => openCluster({ workers: 2, shards: 6, coordinatorHasShards: true });
const five = () => openCluster({ workers: 4, shards: 10, coordinatorHasShards: true });
const delayed = () => openCluster({ workers: 2, shards: 8, delay });

const loads = [
  load('plain', 'plain Postgres', openPlainPostgres),
  load('through', 'Citus, 2 workers, through the coordinator', two),
  load('three', 'Citus, 3 nodes, an instance on each', three, 3),
  load('five', 'Citus, 5 nodes, an instance on each', five, 5),
  load('three busy', 'Citus, 3 nodes, 256 clients for each instance', three, 3, 3 * 256),
  load('five busy', 'Citus, 5 nodes, 256 clients for each instance', five, 5, 5 * 256),
  load('delayed alone', `Citus, ${delay} ms of delay, 1 client`, delayed, 1, 1),
  load('delayed', `Citus, ${delay} ms of delay`, delayed),
];

function load(
  name: string,
  title: string,
  open: () => Promise<BenchDatabase>,
  instances = 1,
  connections = 256,
): LoadConditions {
  const instancesOn = [...Array(instances).keys()];
  return { ...oursRest, name, title, open, instancesOn, connections, order: 'small' };
}

/** Measures the cost of a create on each node of a Citus cluster, and on the same Postgres without Citus. */
export async function citus(bench: Bench, { quick, rounds }: ModeOptions): Promise<Report> {
  const times = quick ? { warmUp: 2, seconds: 3 } : { warmUp: 6, seconds: 8 };
  return runPlan(bench, {
    // Even an idle cluster takes CPU time, so each load starts its own cluster.
    cases: loads.map((each) => loadCase(bench, times, each)),
    rounds: rounds ?? (quick ? 1 : 3),
    table: (results) =>
      formatTable(
        [
          ['CPU µs of Postgres for a create', ({ title }) => title],
          figureColumn('coordinator', 'coordinatorCpu', 1),
          figureColumn('busiest', 'busiestCpu', 1),
          figureColumn('sum', 'databaseCpu', 1),
          ratioColumn('÷ plain', 'databaseCpu', results),
          figureColumn('creates/s', 'requestsPerSecond'),
          figureColumn('p50 ms', 'p50', 1),
        ],
        results,
      ),
    goals: citusGoals,
  });
}

function citusGoals(of: Medians<LoadFigures>): Goal[] {
  const toPlain = (name: string, figure: keyof LoadFigures) =>
    of(name, figure) / of('plain', 'databaseCpu');
  const busiest = (name: string) => toPlain(name, 'busiestCpu');
  const [coordinator, sum] = [
    toPlain('through', 'coordinatorCpu'),
    toPlain('through', 'databaseCpu'),
  ];
  const speed = of('delayed', 'requestsPerSecond') / earlierCreatesPerSecond;
  return [
    atMost(0.5, "through the coordinator: its CPU ÷ plain's", coordinator),
    atMost(2.5, "through the coordinator: all nodes' CPU ÷ plain's", sum),
    atMost(0.6, "three nodes: the busiest one's CPU ÷ plain's", busiest('three')),
    atMost(0.4, "five nodes: the busiest one's CPU ÷ plain's", busiest('five')),
    atMost(0.6, 'the same on three nodes, 256 clients for each', busiest('three busy')),
    atMost(0.4, 'the same on five nodes, 256 clients for each', busiest('five busy')),
    atMost(4, 'p50 of a create ÷ the delay, 1 client', of('delayed alone', 'p50') / delay),
    atLeast(10, `creates a second with the delay ÷ ${earlierCreatesPerSecond}`, speed),
  ];
}
