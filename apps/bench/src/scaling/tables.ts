import { oursRest, pgbench } from '../contenders.ts';
import { durations } from '../durations.ts';
import { atMost, ratio } from '../goals.ts';
import type { Bench } from '../measure.ts';
import type { Options } from '../options.ts';
import { present } from '../present.ts';
import { faultsOf, type Report } from '../report.ts';
import { resultsTable } from '../results-table.ts';
import { runRounds } from '../rounds.ts';
import type { Summary } from '../summary.ts';
import { entry } from './entry.ts';

const sizes = [0, 1_000_000, 10_000_000];

/** Into tables of 0, 1 and 10 million plants, with ids that go all over the index. */
export async function tables(bench: Bench, { quick }: Options): Promise<Report> {
  const { database } = bench;
  const contenders = await present([oursRest, pgbench]);
  const summaries: Summary[] = [];
  await database.empty();
  for (const size of sizes) {
    await database.fill(size);
    const label = `${size.toLocaleString('en')} rows`;
    const conditions = { connections: 32, order: 'strewn', ...durations(quick) } as const;
    const entries = contenders.map((contender) => entry(contender, label, conditions));
    summaries.push(...(await runRounds(bench, { entries, prepare: database.checkpoint })));
  }
  await database.empty();

  const [ours, theirs] = contenders.map((_, at) => growth(summaries, at, contenders.length));
  // Without the tenth, the goal would be a matter of the machine's noise.
  const claim = "growth of the cost of a plant from 0 to 10 million rows, ours REST ÷ pgbench's";
  return {
    text: resultsTable(summaries, summaries[0]),
    goals: [atMost(1.1, claim, ratio(ours, theirs))],
    faults: faultsOf(summaries),
    measured: summaries,
  };
}

/** How many times the cost on the smallest table the cost on the largest is, for one contender. */
function growth(summaries: readonly Summary[], at: number, contenders: number): number | undefined {
  const speeds = summaries.filter((_, index) => index % contenders === at);
  return ratio(speeds.at(0)?.plantsPerSecond, speeds.at(-1)?.plantsPerSecond);
}
