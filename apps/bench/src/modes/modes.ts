import type { Contender } from '../contenders/contenders.ts';
import type { Bench } from '../measurements/bench.ts';
import type { Report } from '../report/report.ts';
import { against } from './against/against.ts';
import type { CaseName } from './against/cases.ts';
import { alone } from './alone.ts';
import { bulk } from './bulk/bulk.ts';
import { citus } from './citus/citus.ts';
import { compare } from './compare.ts';
import { reading } from './reading/reading.ts';
import { type Scaling, scaling } from './scaling/scaling.ts';
import { soak } from './soak.ts';
import { startUp } from './start-up.ts';
import { timing } from './timing.ts';

/** The modes of the benchmark by their names on the command line. */
export const modes = {
  compare,
  against,
  reading,
  alone,
  scaling,
  bulk,
  'start-up': startUp,
  soak,
  citus,
  timing,
} satisfies Record<string, (bench: Bench, options: ModeOptions) => Promise<Report>>;

export type Mode = keyof typeof modes;

/** The options of all modes; each mode takes those that it needs. */
export interface ModeOptions {
  readonly scalings: readonly Scaling[];
  readonly contenders: readonly Contender[];
  /** Measures for a shorter time. */
  readonly quick: boolean;
  /** The commit to compare with, and the cases that are compared. */
  readonly commit: string;
  readonly cases: readonly CaseName[];
  /** The duration of a soak. */
  readonly minutes: number;
}
