import { type Contender, oursRest, pgbench } from '../contenders.ts';
import { durations } from '../durations.ts';
import { atMost, ratio } from '../goals.ts';
import type { Bench } from '../measure.ts';
import type { Options } from '../options.ts';
import { present } from '../present.ts';
import { type Report, reportOf } from '../report.ts';
import { type Entry, runRounds } from '../rounds.ts';
import { entry } from './entry.ts';

const sizes = { none: 0, some: 1_000_000, most: 10_000_000 };

/** Into tables of 0, 1 and 10 million plants, with ids that go all over the index. */
export async function tables(bench: Bench, { quick }: Options): Promise<Report> {
  const contenders = await present([oursRest, pgbench]);
  const conditions = { connections: 32, order: 'strewn', ...durations(quick) } as const;
  const entries: Entry[] = [];
  for (const size of Object.values(sizes)) {
    // One of its own for each, so that all sizes take part in every round.
    const database = await bench.server.createDatabase();
    await database.fill(size);
    const prepare = size === sizes.none ? database.empty : database.checkpoint;
    for (const contender of contenders) {
      const place = { ...conditions, database };
      entries.push({ ...entry(contender, labelOf(size), place), prepare });
    }
  }
  const summaries = await runRounds(bench, { entries });

  const speed = ({ name }: Contender, size: number) =>
    summaries.find((summary) => summary.name === `${name}, ${labelOf(size)}`)?.plantsPerSecond;
  const growth = (contender: Contender) =>
    ratio(speed(contender, sizes.none), speed(contender, sizes.most));
  const claim = "growth of a plant's cost from 0 to 10 million rows, ours REST ÷ pgbench";
  return reportOf(summaries, {
    base: summaries[0],
    // The tenth is for the machine's noise.
    goals: [atMost(1.1, claim, ratio(growth(oursRest), growth(pgbench)))],
  });
}

function labelOf(size: number): string {
  return `rows: ${size.toLocaleString('en')}`;
}
