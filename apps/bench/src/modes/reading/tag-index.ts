import { oursRest } from '../../contenders/contenders.ts';
import type { Bench } from '../../measurements/bench.ts';
import { loadDurations } from '../../measurements/durations.ts';
import { type Entry, runRounds } from '../../measurements/rounds.ts';
import { costsTable } from '../../report/costs-table.ts';
import { createReport, type Report } from '../../report/report.ts';
import { labelledEntry } from '../labelled-entry.ts';

/** Measures what the index on tags costs a create, with ids that are scattered over the index. */
export async function tagIndex(bench: Bench, { quick }: { quick: boolean }): Promise<Report> {
  const entries: Entry[] = [];
  for (const hasIndex of [true, false]) {
    const database = await bench.postgres.createDatabase();
    if (!hasIndex) await database.emptyTagIndex();
    await database.fillForReads();
    const label = `create, ${hasIndex ? 'with' : 'without'} the index on tags`;
    const entry = labelledEntry(oursRest, label, {
      connections: 32,
      order: 'scattered',
      database,
      ...loadDurations(quick),
    });
    entries.push({ ...entry, prepare: database.checkpoint });
  }
  const summaries = await runRounds(bench, { entries });
  return createReport(summaries, { table: costsTable(summaries) });
}
