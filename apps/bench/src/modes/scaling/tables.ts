import { availableContenders } from '../../contenders/available-contenders.ts';
import { type Contender, oursRest, pgbench } from '../../contenders/contenders.ts';
import type { Bench } from '../../measurements/bench.ts';
import { loadDurations } from '../../measurements/durations.ts';
import { type Entry, runRounds } from '../../measurements/rounds.ts';
import { atMost, ratio } from '../../report/goals.ts';
import { createReport, type Report } from '../../report/report.ts';
import { labelledEntry } from '../labelled-entry.ts';

const sizes = { empty: 0, medium: 1_000_000, large: 10_000_000 };

/** Measures tables of 0, 1 and 10 million plants, with ids that are scattered over the index. */
export async function tables(bench: Bench, { quick }: { quick: boolean }): Promise<Report> {
  const contenders = await availableContenders([oursRest, pgbench]);
  const conditions = { connections: 32, order: 'scattered', ...loadDurations(quick) } as const;
  const entries: Entry[] = [];
  for (const size of Object.values(sizes)) {
    // Each size has its own database, so that every round can measure all sizes.
    const database = await bench.postgres.createDatabase();
    await database.fill(size);
    const prepare = size === sizes.empty ? database.empty : database.checkpoint;
    for (const contender of contenders) {
      const entry = labelledEntry(contender, sizeLabel(size), { ...conditions, database });
      entries.push({ ...entry, prepare });
    }
  }
  const summaries = await runRounds(bench, { entries });

  const speed = ({ name }: Contender, size: number) =>
    summaries.find((summary) => summary.name === `${name}, ${sizeLabel(size)}`)?.plantsPerSecond;
  const costGrowth = (contender: Contender) =>
    ratio(speed(contender, sizes.empty), speed(contender, sizes.large));
  const claim = "growth of a plant's cost from 0 to 10 million rows, ours REST ÷ pgbench";
  return createReport(summaries, {
    base: summaries[0],
    // The machine's noise may add a tenth.
    goals: [atMost(1.1, claim, ratio(costGrowth(oursRest), costGrowth(pgbench)))],
  });
}

function sizeLabel(size: number): string {
  return `rows: ${size.toLocaleString('en')}`;
}
