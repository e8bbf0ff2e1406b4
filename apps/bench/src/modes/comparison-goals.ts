import {
  contenders,
  fastifyPostgres,
  nodeHttp,
  oursRest,
  pgbench,
  trpcToOpenapi,
} from '../contenders/contenders.ts';
import type { Summary } from '../measurements/summary.ts';
import { atLeast, atMost, type Goal, ratio } from '../report/goals.ts';

/** The goals that a comparison of the contenders decides. */
export function comparisonGoals(summaries: readonly Summary[]): Goal[] {
  const find = (name: string) => summaries.find((summary) => summary.name === name);
  const speed = (name: string) => find(name)?.requestsPerSecond;
  const ours = find(oursRest.name);
  const oursCpuTo = (other?: number) => ratio(ours?.totalCpuPerRequest, other);
  const oursTo = (other?: number) => ratio(ours?.requestsPerSecond, other);

  const drizzle = allWithRole(summaries, 'drizzle');
  const fastestDrizzle = drizzle && Math.max(...drizzle.map((peer) => peer.requestsPerSecond));
  const handWritten = allWithRole(summaries, 'hand-written');
  const peers = drizzle && handWritten && [...drizzle, ...handWritten];
  const lowestP99 = peers && Math.min(...peers.map(({ p99 }) => p99));
  const totalCpu = (name: string) => find(name)?.totalCpuPerRequest;
  const cheapestDrizzle = drizzle && lowest(drizzle.map((peer) => peer.totalCpuPerRequest));
  const bareServerCpu = find(nodeHttp.name)?.cpuPerRequest;
  const batches = find('ours-trpc-10')?.plantsPerSecond;

  return [
    atMost(
      0.35,
      'CPU of server and Postgres, ours REST ÷ Fastify + raw postgres.js',
      oursCpuTo(totalCpu(fastifyPostgres.name)),
    ),
    atMost(
      0.22,
      'CPU of server and Postgres, ours REST ÷ the cheapest peer with Drizzle',
      oursCpuTo(cheapestDrizzle),
    ),
    atMost(
      0.13,
      "CPU of server and Postgres, ours REST ÷ trpc-to-openapi's plugin",
      oursCpuTo(totalCpu(trpcToOpenapi.name)),
    ),
    atMost(
      1.4,
      'CPU of the server, ours REST ÷ bare node:http',
      ratio(ours?.cpuPerRequest, bareServerCpu),
    ),
    atLeast(4, 'ours REST ÷ the fastest peer with Drizzle', oursTo(fastestDrizzle)),
    atLeast(7, "ours REST ÷ trpc-to-openapi's plugin", oursTo(speed(trpcToOpenapi.name))),
    atLeast(1.5, 'ours REST ÷ Fastify + raw postgres.js', oursTo(speed(fastifyPostgres.name))),
    atLeast(0.6, 'ours REST ÷ pgbench', oursTo(speed(pgbench.name))),
    atLeast(0.45, 'ours REST ÷ bare node:http', oursTo(speed(nodeHttp.name))),
    atLeast(2, "ours tRPC ÷ tRPC's plugin", ratio(speed('ours-trpc'), speed('trpc-fastify'))),
    atLeast(
      2,
      'ours tRPC in batches of 10 ÷ ours REST, plants per second',
      ratio(batches, ours?.plantsPerSecond),
    ),
    atMost(0.8, 'p99 of ours REST ÷ the lowest p99 of a peer', ratio(ours?.p99, lowestP99)),
  ];
}

/** Undefined if one of the values was not measured. */
function lowest(values: readonly (number | undefined)[]): number | undefined {
  const measured = values.filter((value) => value !== undefined);
  return measured.length === values.length ? Math.min(...measured) : undefined;
}

/** All contenders of a role; undefined if one of them was not measured. */
function allWithRole(summaries: readonly Summary[], role: Summary['role']): Summary[] | undefined {
  const all = contenders.filter((contender) => contender.role === role);
  const measured = summaries.filter((summary) => summary.role === role);
  return measured.length === all.length ? measured : undefined;
}
