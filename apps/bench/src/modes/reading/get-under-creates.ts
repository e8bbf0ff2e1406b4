import { oursRest } from '../../contenders/contenders.ts';
import type { Bench } from '../../measurements/bench.ts';
import { loadDurations } from '../../measurements/durations.ts';
import { runRounds } from '../../measurements/rounds.ts';
import { costsTable } from '../../report/costs-table.ts';
import { atMost, ratio } from '../../report/goals.ts';
import { createReport, type Report } from '../../report/report.ts';
import { readEntry } from './read-entry.ts';

/** Measures gets over one connection, without creates and beside 32 connections of creates. */
export async function getUnderCreates(
  bench: Bench,
  { quick }: { quick: boolean },
): Promise<Report> {
  const conditions = { connections: 1, ...loadDurations(quick) };
  const background = { format: oursRest.server.format, connections: 32 };
  const cases = [
    { label: 'one get at a time, no creates', conditions },
    { label: 'one get at a time, full load of creates', conditions: { ...conditions, background } },
  ];
  const entries = cases.flatMap(
    (each) =>
      readEntry(oursRest, { operation: 'get', prepare: bench.database.checkpoint, ...each }) ?? [],
  );
  const summaries = await runRounds(bench, { entries });
  const [alone, beside] = summaries;
  const claim = 'p99 of a get, full load of creates ÷ no creates';
  return createReport(summaries, {
    table: costsTable(summaries),
    goals: [atMost(5, claim, ratio(beside?.p99, alone?.p99))],
  });
}
