import { byHand, oursRest } from '../contenders.ts';
import { durations } from '../durations.ts';
import { atMost, ratio } from '../goals.ts';
import type { Bench } from '../measure.ts';
import type { Options } from '../options.ts';
import { type Report, reportOf } from '../report.ts';
import { runRounds } from '../rounds.ts';

/** One connection by itself: whether gathering plants into batches makes a lone one wait. */
export async function alone(bench: Bench, { quick }: Options): Promise<Report> {
  const conditions = { connections: 1, ...durations(quick) };
  const summaries = await runRounds(bench, {
    entries: [oursRest, byHand].map((contender) => ({ ...contender, conditions })),
  });
  const [ours, theirs] = summaries;
  const claim = 'median latency of one connection, ours REST ÷ Fastify + raw postgres.js';
  return reportOf(summaries, {
    base: ours,
    goals: [atMost(1.15, claim, ratio(ours?.p50, theirs?.p50))],
  });
}
