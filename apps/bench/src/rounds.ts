import type { Contender } from './contenders.ts';
import { type Bench, type Conditions, type Measurement, measure } from './measure.ts';
import { type Summary, summarize } from './summary.ts';

/** A contender with the conditions that it is measured under. */
export interface Entry extends Contender {
  readonly conditions: Conditions;
  /** Makes its table ready before each measurement; empties it unless given. */
  readonly prepare?: () => Promise<void>;
}

/**
 * Measures every entry once a round, so that what drifts in the machine hits all alike; each round
 * starts with another of them.
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
