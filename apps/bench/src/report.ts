import type { Goal } from './goals.ts';
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

export function faultsOf(summaries: readonly Summary[]): string[] {
  return summaries.flatMap(({ title, faults }) => faults.map((fault) => `${title}: ${fault}`));
}
