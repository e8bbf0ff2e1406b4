import { oursRest } from '../../contenders/contenders.ts';
import type { Bench } from '../../measurements/bench.ts';
import { loadDurations } from '../../measurements/durations.ts';
import { runRounds } from '../../measurements/rounds.ts';
import { atLeast, atMost, ratio } from '../../report/goals.ts';
import { createReport, type Report } from '../../report/report.ts';
import { labelledEntry } from '../labelled-entry.ts';

/** Measures 1 to 512 connections. */
export async function connections(bench: Bench, { quick }: { quick: boolean }): Promise<Report> {
  const summaries = await runRounds(bench, {
    entries: [1, 8, 32, 128, 512].map((connections) =>
      labelledEntry(oursRest, `connections: ${connections}`, {
        connections,
        ...loadDurations(quick),
      }),
    ),
  });
  const [, , with32, , with512] = summaries;
  const speedRatio = ratio(with512?.requestsPerSecond, with32?.requestsPerSecond);
  return createReport(summaries, {
    base: with32,
    goals: [
      atLeast(0.9, 'requests per second at 512 connections ÷ at 32', speedRatio),
      atMost(0, 'errors at 512 connections', with512?.errors),
    ],
  });
}
