import { isInstalled } from '@plant-store/test-setup';
import {
  fastifyPostgres,
  nodeHttp,
  oursRest,
  oursTrpc,
  oursTrpcBatch,
  peersWithDrizzle,
  pgbench,
  trpcFastify,
  trpcToOpenapi,
} from '../contenders/contenders.ts';
import type { Bench } from '../measurements/bench.ts';
import { type LoadFigures, loadCase } from '../measurements/load-case.ts';
import { loadTable } from '../measurements/load-table.ts';
import { type Medians, type Report, runPlan } from '../measurements/run-plan.ts';
import { atLeast, atMost, type Goal } from '../report/goals.ts';
import { loadTimes, type ModeOptions } from './mode-options.ts';

/** Compares the contenders over 32 connections. */
export async function compare(bench: Bench, options: ModeOptions): Promise<Report> {
  const times = loadTimes(options);
  const hasPgbench = isInstalled('pgbench');
  if (!hasPgbench) bench.progress('pgbench is not measured, because it is not installed');
  return runPlan(bench, {
    cases: options.contenders
      .filter((contender) => hasPgbench || contender !== pgbench)
      .map((contender) => loadCase(bench, times, { ...contender, connections: 32 })),
    rounds: times.rounds,
    table: loadTable,
    goals: comparisonGoals,
  });
}

export function comparisonGoals(of: Medians<LoadFigures>): Goal[] {
  const figure = (name: keyof LoadFigures) => (contender: { name: string }) =>
    of(contender.name, name);
  const [speed, plants, p99] = [
    figure('requestsPerSecond'),
    figure('plantsPerSecond'),
    figure('p99'),
  ];
  const [cpu, serverCpu] = [figure('totalCpu'), figure('serverCpu')];
  const [ours, cpuOfOurs] = [speed(oursRest), cpu(oursRest)];
  const lowestP99 = Math.min(...[fastifyPostgres, ...peersWithDrizzle].map(p99));
  const both = 'CPU of server and Postgres, ours REST ÷';
  const cheapest = Math.min(...peersWithDrizzle.map(cpu));
  const fastest = Math.max(...peersWithDrizzle.map(speed));
  const server = serverCpu(oursRest) / serverCpu(nodeHttp);
  const batches = plants(oursTrpcBatch) / plants(oursRest);
  return [
    atMost(0.35, `${both} Fastify + raw postgres.js`, cpuOfOurs / cpu(fastifyPostgres)),
    atMost(0.22, `${both} the cheapest peer with Drizzle`, cpuOfOurs / cheapest),
    atMost(0.13, `${both} trpc-to-openapi's plugin`, cpuOfOurs / cpu(trpcToOpenapi)),
    atMost(1.4, 'CPU of the server, ours REST ÷ bare node:http', server),
    atLeast(4, 'ours REST ÷ the fastest peer with Drizzle', ours / fastest),
    atLeast(7, "ours REST ÷ trpc-to-openapi's plugin", ours / speed(trpcToOpenapi)),
    atLeast(1.5, 'ours REST ÷ Fastify + raw postgres.js', ours / speed(fastifyPostgres)),
    atLeast(0.6, 'ours REST ÷ pgbench', ours / speed(pgbench)),
    atLeast(0.45, 'ours REST ÷ bare node:http', ours / speed(nodeHttp)),
    atLeast(2, "ours tRPC ÷ tRPC's plugin", speed(oursTrpc) / speed(trpcFastify)),
    atLeast(2, 'ours tRPC in batches of 10 ÷ ours REST, plants per second', batches),
    atMost(0.8, 'p99 of ours REST ÷ the lowest p99 of a peer', p99(oursRest) / lowestP99),
  ];
}
