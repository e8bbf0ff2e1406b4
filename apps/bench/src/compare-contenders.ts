import { compare } from './compare.ts';
import { comparisonGoals } from './goals.ts';
import { goalsTable } from './goals-table.ts';
import type { Bench } from './measure.ts';
import type { Options } from './options.ts';
import { resultsTable } from './results-table.ts';

export async function compareContenders(bench: Bench, { contenders, quick }: Options) {
  const conditions = { connections: 32, warmUp: quick ? 1 : 3, seconds: quick ? 1 : 8 };
  const summaries = await compare(bench, {
    entries: contenders.map((contender) => ({ ...contender, conditions })),
    rounds: 3,
    report: console.error,
  });
  const goals = comparisonGoals(summaries);
  return {
    text: `${resultsTable(summaries)}\n\n${goalsTable(goals)}`,
    faults: summaries.flatMap(({ title, faults }) => faults.map((fault) => `${title}: ${fault}`)),
    summaries,
    goals,
  };
}
