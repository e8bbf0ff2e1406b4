import { oursRest } from '../../contenders/contenders.ts';
import type { Bench } from '../../measurements/bench.ts';
import { loadDurations } from '../../measurements/durations.ts';
import { runRounds } from '../../measurements/rounds.ts';
import { createReport, type Report } from '../../report/report.ts';
import { labelledEntry } from '../labelled-entry.ts';

/** Measures one to eight server processes that share 256 connections and one database. */
export async function instances(bench: Bench, { quick }: { quick: boolean }): Promise<Report> {
  const conditions = { connections: 256, ...loadDurations(quick) };
  const summaries = await runRounds(bench, {
    entries: [1, 2, 4, 8].map((instances) =>
      labelledEntry(oursRest, `instances: ${instances}`, { ...conditions, instances }),
    ),
  });
  return createReport(summaries, { base: summaries[0] });
}
