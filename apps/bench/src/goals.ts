/** Something that the store claims about its speed, beside what was measured. */
export interface Goal {
  readonly claim: string;
  /** Undefined where what it takes was not measured. */
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

/** Undefined where either was not measured. */
export function ratio(ours?: number, theirs?: number): number | undefined {
  return ours === undefined || theirs === undefined ? undefined : ours / theirs;
}

export function verdict({ measured, bound, sense }: Goal): 'met' | 'missed' | 'not measured' {
  if (measured === undefined) return 'not measured';
  const isMet = sense === 'at least' ? measured >= bound : measured <= bound;
  return isMet ? 'met' : 'missed';
}
