import { oursRest } from '../contenders.ts';
import { durations } from '../durations.ts';
import { atLeast, atMost, ratio } from '../goals.ts';
import type { Bench } from '../measure.ts';
import type { Options } from '../options.ts';
import { type Report, reportOf } from '../report.ts';
import { runRounds } from '../rounds.ts';
import { entry } from './entry.ts';

/** The usual load over 1 to 512 connections. */
export async function connections(bench: Bench, { quick }: Options): Promise<Report> {
  const summaries = await runRounds(bench, {
    entries: [1, 8, 32, 128, 512].map((connections) =>
      entry(oursRest, `connections: ${connections}`, { connections, ...durations(quick) }),
    ),
  });
  const [, , usual, , most] = summaries;
  const kept = ratio(most?.requestsPerSecond, usual?.requestsPerSecond);
  return reportOf(summaries, {
    base: usual,
    goals: [
      atLeast(0.9, 'requests per second at 512 connections ÷ at 32', kept),
      atMost(0, 'errors at 512 connections', most?.errors),
    ],
  });
}
