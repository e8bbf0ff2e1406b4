import type { Contender } from '../contenders/contenders.ts';
import type { Durations } from '../measurements/load-case.ts';

/** The options of all modes. Each mode uses the options that it needs. */
export interface ModeOptions {
  readonly contenders: readonly Contender[];
  /** Whether the mode measures for a shorter time. */
  readonly quick: boolean;
  /** The number of rounds. By default, each mode has its own number of rounds. */
  readonly rounds?: number;
  /** The arguments after the mode. */
  readonly words: readonly string[];
}

/** The rounds and durations of most loads. */
export function loadTimes({ quick, rounds }: ModeOptions): Durations & { rounds: number } {
  return quick
    ? { rounds: rounds ?? 2, warmUp: 6, seconds: 2 }
    : { rounds: rounds ?? 3, warmUp: 20, seconds: 8 };
}
