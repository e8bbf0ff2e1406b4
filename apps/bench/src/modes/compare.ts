import { comparisonGoals } from '../comparison-goals.ts';
import { type Contender, oursRest } from '../contenders.ts';
import { durations } from '../durations.ts';
import type { Bench } from '../measure.ts';
import type { Options } from '../options.ts';
import { present } from '../present.ts';
import { faultsOf, type Report } from '../report.ts';
import { resultsTable } from '../results-table.ts';
import { runRounds } from '../rounds.ts';

/** All contenders at 32 connections. */
export async function compare(bench: Bench, { contenders, quick }: Options): Promise<Report> {
  const here = await present(contenders);
  const conditions = { connections: 32, ...durations(quick) };
  const summaries = await runRounds(bench, {
    entries: here.map((contender) => ({ ...contender, conditions })),
  });
  const base = summaries.find(({ name }) => name === oursRest.name);
  return {
    text: [resultsTable(summaries, base), ...absent(contenders, here)].join('\n'),
    goals: comparisonGoals(summaries),
    faults: faultsOf(summaries),
    measured: summaries,
  };
}

function absent(contenders: readonly Contender[], here: readonly Contender[]): string[] {
  const missing = contenders.filter((contender) => !here.includes(contender));
  return missing.map(({ title }) => `${title}: not measured, this machine has none`);
}
