import { oursRest } from '../contenders.ts';
import { atMost, ratio } from '../goals.ts';
import { type Bench, measure } from '../measure.ts';
import type { Options } from '../options.ts';
import { type Report, reportOf } from '../report.ts';
import { median, summarize } from '../summary.ts';
import { table } from '../table.ts';

/** The usual load for minutes on end, to see whether the server's memory grows. */
export async function soak(bench: Bench, { minutes }: Options): Promise<Report> {
  const seconds = minutes * 60;
  const every = Math.min(30, seconds / 8);
  const samples: number[] = [];
  await bench.database.empty();
  const measurement = await measure(bench, oursRest, {
    connections: 32,
    warmUp: 3,
    seconds,
    sample: { every, take: ({ memory }) => samples.push(memory) },
  });
  const summary = summarize(oursRest, [measurement]);
  const report = reportOf([summary], {
    base: summary,
    // A heap that is collected now and then is no straight line: a tenth is not yet growth.
    goals: [atMost(1.1, 'memory in the last quarter ÷ in the second quarter', growth(samples))],
  });
  const rows = samples.map((memory, at) => [
    String((at + 1) * every),
    (memory / 2 ** 20).toFixed(0),
  ]);
  return {
    ...report,
    text: `${report.text}\n\n${table(['second', 'MB'], rows)}`,
    measured: { summary, samples },
  };
}

/** The first quarter is left out: in it a process takes what it needs. */
export function growth(samples: readonly number[]): number | undefined {
  const quarter = Math.floor(samples.length / 4);
  return ratio(median(samples.slice(-quarter)), median(samples.slice(quarter, 2 * quarter)));
}
