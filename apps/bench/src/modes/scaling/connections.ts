import { oursRest } from '../../contenders/contenders.ts';
import type { Bench } from '../../measurements/bench.ts';
import { loadDurations } from '../../measurements/durations.ts';
import { runRounds } from '../../measurements/rounds.ts';
import { atLeast, atMost, ratio } from '../../report/goals.ts';
import { createReport, type Report } from '../../report/report.ts';
import { labelledEntry } from '../labelled-entry.ts';

/** Measures 1 to 1,000 connections. */
export async function connections(bench: Bench, { quick }: { quick: boolean }): Promise<Report> {
  const summaries = await runRounds(bench, {
    entries: [1, 8, 32, 128, 1000].map((connections) =>
      labelledEntry(oursRest, `connections: ${connections}`, {
        connections,
        ...loadDurations(quick),
      }),
    ),
  });
  const [, , with32, , with1000] = summaries;
  const speedRatio = ratio(with1000?.requestsPerSecond, with32?.requestsPerSecond);
  return createReport(summaries, {
    base: with32,
    goals: [
      atLeast(0.9, 'requests per second at 1,000 connections ÷ at 32', speedRatio),
      atMost(0, 'errors at 1,000 connections', with1000?.errors),
    ],
  });
}
