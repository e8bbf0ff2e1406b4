import { oursRest } from '../contenders.ts';
import { durations } from '../durations.ts';
import type { Bench } from '../measure.ts';
import type { Options } from '../options.ts';
import { type Report, reportOf } from '../report.ts';
import { runRounds } from '../rounds.ts';
import { entry } from './entry.ts';

/** 32 connections shared by one, two and four processes of the server on one database. */
export async function instances(bench: Bench, { quick }: Options): Promise<Report> {
  const conditions = { connections: 32, ...durations(quick) };
  const summaries = await runRounds(bench, {
    entries: [1, 2, 4].map((instances) =>
      entry(oursRest, `instances: ${instances}`, { ...conditions, instances }),
    ),
  });
  return reportOf(summaries, { base: summaries[0] });
}
