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

/** Makes a report with a table: `table`, or one of results with ratios relative to `base`. */
export function createReport(
  summaries: readonly Summary[],
  { base, table = resultsTable(summaries, base), goals = [] }: ReportOptions,
): Report {
  return {
    text: table,
    goals,
    faults: summaries.flatMap(({ title, faults }) => faults.map((fault) => `${title}: ${fault}`)),
    measured: summaries,
  };
}

interface ReportOptions {
  readonly base?: Summary | undefined;
  readonly table?: string;
  readonly goals?: readonly Goal[];
}
