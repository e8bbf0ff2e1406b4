import type { Goal } from './goals.ts';
import { resultsTable } from './results-table.ts';
import type { Summary } from './summary.ts';

/** What a mode of the benchmark has measured. */
export interface Report {
  /** Tables, to read. */
  readonly text: string;
  readonly goals: readonly Goal[];
  /** What is wrong but for the speed. */
  readonly faults: readonly string[];
  /** Everything, for programs. */
  readonly measured: unknown;
}

/** Reports a table of results, with ratios to the line of `base`, and the goals that it decides. */
export function reportOf(
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
