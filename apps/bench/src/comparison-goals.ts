import { byHand, contenders, nodeHttp, oursRest, pgbench } from './contenders.ts';
import { atLeast, atMost, type Goal, ratio } from './goals.ts';
import type { Summary } from './summary.ts';

/** The goals that one comparison of the contenders decides. */
export function comparisonGoals(summaries: readonly Summary[]): Goal[] {
  const find = (name: string) => summaries.find((summary) => summary.name === name);
  const speed = (name: string) => find(name)?.requestsPerSecond;
  const ours = find(oursRest.name);
  const times = (other?: number) => ratio(ours?.requestsPerSecond, other);

  const drizzle = withRole(summaries, 'drizzle');
  const fastest = drizzle && Math.max(...drizzle.map((peer) => peer.requestsPerSecond));
  const handmade = withRole(summaries, 'by hand');
  const peers = drizzle && handmade && [...drizzle, ...handmade];
  const best = peers && Math.min(...peers.map(({ p99 }) => p99));
  const batches = find('ours-trpc-10')?.plantsPerSecond;

  return [
    atLeast(4, 'ours REST ÷ the fastest with Drizzle', times(fastest)),
    atLeast(7, "ours REST ÷ trpc-to-openapi's plugin", times(speed('trpc-to-openapi'))),
    atLeast(1.5, 'ours REST ÷ Fastify + raw postgres.js', times(speed(byHand.name))),
    atLeast(0.6, 'ours REST ÷ pgbench', times(speed(pgbench.name))),
    atLeast(0.45, 'ours REST ÷ bare node:http', times(speed(nodeHttp.name))),
    atLeast(2, "ours tRPC ÷ tRPC's plugin", ratio(speed('ours-trpc'), speed('trpc-fastify'))),
    atLeast(
      2,
      'ours tRPC in batches of 10 ÷ ours REST, plants per second',
      ratio(batches, ours?.plantsPerSecond),
    ),
    atMost(1, "p99 of ours REST ÷ the best peer's", ratio(ours?.p99, best)),
  ];
}

/** All contenders of a role; undefined unless every one of them was measured. */
function withRole(summaries: readonly Summary[], role: Summary['role']): Summary[] | undefined {
  const all = contenders.filter((contender) => contender.role === role);
  const measured = summaries.filter((summary) => summary.role === role);
  return measured.length === all.length ? measured : undefined;
}
