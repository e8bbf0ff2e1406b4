import { byHand, contenders, oursRest, pgbench } from './contenders.ts';
import type { Summary } from './summary.ts';

/** Something that the store claims about its speed, beside what was measured. */
export interface Goal {
  readonly claim: string;
  /** Undefined where what it takes was not measured. */
  readonly measured: number | undefined;
  readonly bound: number;
  readonly sense: 'at least' | 'at most';
}

export function isMet({ measured, bound, sense }: Goal): boolean | undefined {
  if (measured === undefined) return undefined;
  return sense === 'at least' ? measured >= bound : measured <= bound;
}

/** The goals that one comparison of all contenders decides. */
export function comparisonGoals(summaries: readonly Summary[]): Goal[] {
  const get = (name: string) => summaries.find((summary) => summary.name === name);
  const ours = get(oursRest.name);
  const trpc = get('ours-trpc');
  const complete = (role: Summary['role']) =>
    contenders.filter((contender) => contender.role === role).every(({ name }) => get(name));
  const peers = (...roles: Summary['role'][]) =>
    roles.every(complete) ? summaries.filter(({ role }) => roles.includes(role)) : [];

  const requests = (summary?: Summary) => summary?.requestsPerSecond;
  const fastest = (all: Summary[]) =>
    extreme(
      Math.max,
      all.map(({ requestsPerSecond }) => requestsPerSecond),
    );
  const quickest = (all: Summary[]) =>
    extreme(
      Math.min,
      all.map(({ p99 }) => p99),
    );

  return [
    atLeast(4, 'ours REST ÷ the fastest with Drizzle', requests(ours), fastest(peers('drizzle'))),
    atLeast(
      7,
      "ours REST ÷ trpc-to-openapi's plugin",
      requests(ours),
      requests(get('trpc-to-openapi')),
    ),
    atLeast(
      1.5,
      'ours REST ÷ Fastify + raw postgres.js',
      requests(ours),
      requests(get(byHand.name)),
    ),
    atLeast(0.6, 'ours REST ÷ pgbench', requests(ours), requests(get(pgbench.name))),
    atLeast(0.45, 'ours REST ÷ bare node:http', requests(ours), requests(get('node-http'))),
    atLeast(2, "ours tRPC ÷ tRPC's plugin", requests(trpc), requests(get('trpc-fastify'))),
    atLeast(
      2,
      'ours tRPC in batches of 10 ÷ ours REST, plants per second',
      get('ours-trpc-10')?.plantsPerSecond,
      ours?.plantsPerSecond,
    ),
    atMost(
      1,
      "p99 of ours REST ÷ the best contender's",
      ours?.p99,
      quickest(peers('drizzle', 'by hand')),
    ),
  ];
}

export function atLeast(bound: number, claim: string, ours?: number, theirs?: number): Goal {
  return { claim, measured: ratio(ours, theirs), bound, sense: 'at least' };
}

export function atMost(bound: number, claim: string, ours?: number, theirs?: number): Goal {
  return { claim, measured: ratio(ours, theirs), bound, sense: 'at most' };
}

function ratio(ours?: number, theirs?: number): number | undefined {
  return ours === undefined || theirs === undefined ? undefined : ours / theirs;
}

function extreme(pick: (...values: number[]) => number, values: number[]): number | undefined {
  return values.length > 0 ? pick(...values) : undefined;
}
