import type { Bench } from './measure.ts';
import { alone } from './modes/alone.ts';
import { compare } from './modes/compare.ts';
import { scaling } from './modes/scaling.ts';
import { soak } from './modes/soak.ts';
import { startUp } from './modes/start-up.ts';
import type { Options } from './options.ts';
import type { Report } from './report.ts';

/** What the benchmark can measure, by the name that the command line has for it. */
export const modes = { compare, alone, scaling, 'start-up': startUp, soak } satisfies Record<
  string,
  (bench: Bench, options: Options) => Promise<Report>
>;

export type Mode = keyof typeof modes;
