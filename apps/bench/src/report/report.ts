import type { Summary } from '../measurements/summary.ts';
import type { Goal } from './goals.ts';
import { resultsTable } from './results-table.ts';

/** The result of a mode of the benchmark. */
export interface Report {
  /** The tables to print. */
  readonly text: string;
  readonly goals: readonly Goal[];
  /** Errors, lost plants, and plants that nobody sent. */
  readonly faults: readonly string[];
  /** Everything that was measured, for programs. */
  readonly measured: unknown;
}

/** Makes a report with a table of results; its ratios are relative to `base`. */
export function createReport(
  summaries: readonly Summary[],
  { base, goals = [] }: { base: Summary | undefined; goals?: readonly Goal[] },
): Report {
  return {
    text: resultsTable(summaries, base),
    goals,
    faults: summaries.flatMap(({ title, faults }) => faults.map((fault) => `${title}: ${fault}`)),
    measured: summaries,
  };
}
