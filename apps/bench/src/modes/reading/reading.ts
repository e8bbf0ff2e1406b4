import type { Contender } from '../../contenders/contenders.ts';
import type { Bench } from '../../measurements/bench.ts';
import type { Report } from '../../report/report.ts';
import { getAndList } from './get-and-list.ts';
import { getUnderCreates } from './get-under-creates.ts';
import { tagIndex } from './tag-index.ts';

/** Measures reads from a table of a million plants, and what reads and creates cost each other. */
export async function reading(
  bench: Bench,
  options: { contenders: readonly Contender[]; quick: boolean },
): Promise<Report> {
  await bench.database.fillForReads();
  const reports = {
    getAndList: await getAndList(bench, options),
    getUnderCreates: await getUnderCreates(bench, options),
    tagIndex: await tagIndex(bench, options),
  };
  const all: Report[] = Object.values(reports);
  return {
    text: all.map(({ text }) => text).join('\n\n'),
    goals: all.flatMap(({ goals }) => goals),
    faults: all.flatMap(({ faults }) => faults),
    measured: Object.fromEntries(
      Object.entries(reports).map(([name, { measured }]) => [name, measured]),
    ),
  };
}
