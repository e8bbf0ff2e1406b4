import type { Contender } from '../contenders/contenders.ts';
import type { Bench } from './bench.ts';
import type { Conditions } from './conditions.ts';
import { type Measurement, measure } from './measure.ts';
import { type Summary, summarize } from './summary.ts';

/** A contender and the conditions under which it is measured. */
export interface Entry extends Contender {
  readonly conditions: Conditions;
  /** Prepares the table before each measurement; by default it empties the table. */
  readonly prepare?: () => Promise<void>;
}

/**
 * Measures every entry once in each round, so that a change in the machine's speed affects all
 * entries. Each round starts with a different entry.
 */
export async function runRounds(
  bench: Bench,
  { entries, rounds = 3 }: { entries: readonly Entry[]; rounds?: number },
): Promise<Summary[]> {
  const measured = new Map<Entry, Measurement[]>(entries.map((entry) => [entry, []]));
  for (let round = 0; round < rounds; round++) {
    const first = round % entries.length;
    for (const entry of [...entries.slice(first), ...entries.slice(0, first)]) {
      const { title, conditions, prepare = bench.database.empty } = entry;
      await prepare();
      const measurement = await measure(bench, entry, conditions);
      measured.get(entry)?.push(measurement);
      const speed = Math.round(measurement.requestsPerSecond).toLocaleString('en');
      bench.progress(`round ${round + 1} of ${rounds}: ${title}: ${speed} requests/s`);
    }
  }
  return entries.map((entry) => summarize(entry, measured.get(entry) ?? []));
}
