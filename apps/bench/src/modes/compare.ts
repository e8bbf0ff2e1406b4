import { comparisonGoals } from '../comparison-goals.ts';
import { oursRest } from '../contenders.ts';
import { durations } from '../durations.ts';
import type { Bench } from '../measure.ts';
import type { Options } from '../options.ts';
import { present } from '../present.ts';
import { type Report, reportOf } from '../report.ts';
import { runRounds } from '../rounds.ts';

/** All contenders at 32 connections. */
export async function compare(bench: Bench, { contenders, quick }: Options): Promise<Report> {
  const here = await present(contenders);
  const conditions = { connections: 32, ...durations(quick) };
  const summaries = await runRounds(bench, {
    entries: here.map((contender) => ({ ...contender, conditions })),
    rounds: quick ? 2 : 3,
  });
  const base = summaries.find(({ name }) => name === oursRest.name);
  const report = reportOf(summaries, { base, goals: comparisonGoals(summaries) });
  const absent = contenders.filter((contender) => !here.includes(contender));
  const lines = absent.map(({ title }) => `${title}: not measured, this machine has none`);
  return { ...report, text: [report.text, ...lines].join('\n') };
}
