import { oursRest } from '../contenders.ts';
import { durations } from '../durations.ts';
import type { Bench } from '../measure.ts';
import type { Options } from '../options.ts';
import { faultsOf, type Report } from '../report.ts';
import { resultsTable } from '../results-table.ts';
import { runRounds } from '../rounds.ts';
import { entry } from './entry.ts';

/** 32 connections shared by one, two and four processes of the server on one database. */
export async function instances(bench: Bench, { quick }: Options): Promise<Report> {
  const summaries = await runRounds(bench, {
    entries: [1, 2, 4].map((instances) =>
      entry(oursRest, `${instances} instances`, {
        connections: 32,
        instances,
        ...durations(quick),
      }),
    ),
  });
  return {
    text: resultsTable(summaries, summaries[0]),
    goals: [],
    faults: faultsOf(summaries),
    measured: summaries,
  };
}
