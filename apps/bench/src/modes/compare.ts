import { availableContenders } from '../contenders/available-contenders.ts';
import { type Contender, oursRest } from '../contenders/contenders.ts';
import type { Bench } from '../measurements/bench.ts';
import { loadDurations } from '../measurements/durations.ts';
import { runRounds } from '../measurements/rounds.ts';
import { createReport, type Report } from '../report/report.ts';
import { comparisonGoals } from './comparison-goals.ts';

/** Compares the contenders over 32 connections. */
export async function compare(
  bench: Bench,
  { contenders, quick }: { contenders: readonly Contender[]; quick: boolean },
): Promise<Report> {
  const available = await availableContenders(contenders);
  const conditions = { connections: 32, ...loadDurations(quick) };
  const summaries = await runRounds(bench, {
    entries: available.map((contender) => ({ ...contender, conditions })),
    rounds: quick ? 2 : 3,
  });
  const base = summaries.find(({ name }) => name === oursRest.name);
  const report = createReport(summaries, { base, goals: comparisonGoals(summaries) });
  const missing = contenders.filter((contender) => !available.includes(contender));
  const lines = missing.map(({ title }) => `${title}: not measured, because it is not installed`);
  return { ...report, text: [report.text, ...lines].join('\n') };
}
