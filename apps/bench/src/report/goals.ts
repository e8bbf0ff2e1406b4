import { decimal, formatTable } from './format-table.ts';

/** A claim about the store's speed, and the measured value. The bound shows whether the claim is true. */
export interface Goal {
  readonly claim: string;
  /** NaN if the benchmark has not measured a figure that the goal needs. */
  readonly measured: number;
  readonly bound: number;
  readonly sense: 'at least' | 'at most';
}

export function atLeast(bound: number, claim: string, measured: number): Goal {
  return { claim, measured, bound, sense: 'at least' };
}

export function atMost(bound: number, claim: string, measured: number): Goal {
  return { claim, measured, bound, sense: 'at most' };
}

export function verdict({ measured, bound, sense }: Goal): 'met' | 'missed' | 'not measured' {
  if (Number.isNaN(measured)) return 'not measured';
  const isMet = sense === 'at least' ? measured >= bound : measured <= bound;
  return isMet ? 'met' : 'missed';
}

/** Formats a table with one row for each goal: its bound, the measured value and the verdict. */
export function goalsTable(goals: readonly Goal[]): string {
  return formatTable(
    [
      ['goal', ({ claim }) => claim],
      ['wanted', ({ sense, bound }) => `${sense} ${bound}`],
      ['measured', ({ measured }) => decimal(measured, 2)],
      ['verdict', verdict],
    ],
    goals,
  );
}
