import type { Contender } from '../../contenders/contenders.ts';
import type { Bench } from '../../measurements/bench.ts';
import { loadDurations } from '../../measurements/durations.ts';
import { runRounds } from '../../measurements/rounds.ts';
import { costsTable } from '../../report/costs-table.ts';
import { createReport, type Report } from '../../report/report.ts';
import { readEntry } from './read-entry.ts';
import { readingGoals } from './reading-goals.ts';

/** Compares the contenders that can read plants: by id, and 100 in a page. */
export async function getAndList(
  bench: Bench,
  { contenders, quick }: { contenders: readonly Contender[]; quick: boolean },
): Promise<Report> {
  const conditions = { connections: 32, ...loadDurations(quick) };
  const prepare = bench.database.checkpoint;
  const rounds = quick ? 2 : 3;
  const measured = async (operation: 'get' | 'list') => {
    const entries = contenders.flatMap(
      (contender) => readEntry(contender, { operation, conditions, prepare }) ?? [],
    );
    return runRounds(bench, { entries, rounds });
  };
  const summaries = [...(await measured('get')), ...(await measured('list'))];
  return createReport(summaries, {
    table: costsTable(summaries),
    goals: readingGoals(summaries),
  });
}
