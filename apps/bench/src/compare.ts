import type { Contender } from './contenders.ts';
import { type Bench, type Conditions, type Measurement, measure } from './measure.ts';
import { type Summary, summarize } from './summary.ts';

/** A contender with the conditions that it is measured under. */
export interface Entry extends Contender {
  readonly conditions: Conditions;
}

interface Comparison {
  entries: readonly Entry[];
  rounds: number;
  /** What makes the table the same for all before each measurement; emptying it unless given. */
  prepare?: () => Promise<void>;
  report?: (line: string) => void;
}

/**
 * Measures all entries in rounds, so that what drifts in the machine hits all alike; each round
 * starts with another of them.
 */
export async function compare(bench: Bench, comparison: Comparison): Promise<Summary[]> {
  const { entries, rounds, prepare = () => bench.database.empty(), report } = comparison;
  const measured = new Map<Entry, Measurement[]>(entries.map((entry) => [entry, []]));
  for (let round = 0; round < rounds; round++) {
    const first = round % Math.max(entries.length, 1);
    for (const entry of [...entries.slice(first), ...entries.slice(0, first)]) {
      await prepare();
      const measurement = await measure(bench, entry, entry.conditions);
      measured.get(entry)?.push(measurement);
      const speed = Math.round(measurement.requestsPerSecond).toLocaleString('en');
      report?.(`round ${round + 1} of ${rounds}: ${entry.title}: ${speed} requests/s`);
    }
  }
  return entries.map((entry) => summarize(entry, measured.get(entry) ?? []));
}
