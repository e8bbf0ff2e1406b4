/** A claim about the store's speed, and the measured value that decides it. */
export interface Goal {
  readonly claim: string;
  /** Undefined if a contender of the goal was not measured. */
  readonly measured: number | undefined;
  readonly bound: number;
  readonly sense: 'at least' | 'at most';
}

export function atLeast(bound: number, claim: string, measured?: number): Goal {
  return { claim, measured, bound, sense: 'at least' };
}

export function atMost(bound: number, claim: string, measured?: number): Goal {
  return { claim, measured, bound, sense: 'at most' };
}

/** Undefined if either value was not measured. */
export function ratio(value?: number, base?: number): number | undefined {
  return value === undefined || base === undefined ? undefined : value / base;
}

export function verdict({ measured, bound, sense }: Goal): 'met' | 'missed' | 'not measured' {
  if (measured === undefined) return 'not measured';
  const isMet = sense === 'at least' ? measured >= bound : measured <= bound;
  return isMet ? 'met' : 'missed';
}
