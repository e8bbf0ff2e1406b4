import { fastifyPostgres, oursRest } from '../contenders/contenders.ts';
import type { Bench } from '../measurements/bench.ts';
import { loadDurations } from '../measurements/durations.ts';
import { runRounds } from '../measurements/rounds.ts';
import { atMost, ratio } from '../report/goals.ts';
import { createReport, type Report } from '../report/report.ts';

/** Measures a single connection, to see whether batching makes a lone create wait. */
export async function alone(bench: Bench, { quick }: { quick: boolean }): Promise<Report> {
  const conditions = { connections: 1, ...loadDurations(quick) };
  const summaries = await runRounds(bench, {
    entries: [oursRest, fastifyPostgres].map((contender) => ({ ...contender, conditions })),
  });
  const [ours, theirs] = summaries;
  const claim = 'median latency of one connection, ours REST ÷ Fastify + raw postgres.js';
  return createReport(summaries, {
    base: ours,
    goals: [atMost(1.1, claim, ratio(ours?.p50, theirs?.p50))],
  });
}
