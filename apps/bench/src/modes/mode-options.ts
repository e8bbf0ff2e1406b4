import type { Contender } from '../contenders/contenders.ts';
import type { Durations } from '../measurements/load-case.ts';

/** The options of all modes. Each mode uses the options that it needs. */
export interface ModeOptions {
  readonly contenders: readonly Contender[];
  /** Measures for a shorter time. */
  readonly quick: boolean;
  /** The arguments after the mode. */
  readonly words: readonly string[];
}

/** The rounds and durations of most loads. */
export function loadTimes({ quick }: ModeOptions): Durations & { rounds: number } {
  return quick ? { rounds: 2, warmUp: 6, seconds: 2 } : { rounds: 3, warmUp: 20, seconds: 8 };
}
