import { oursRest } from '../contenders/contenders.ts';
import type { Bench } from '../measurements/bench.ts';
import { measure } from '../measurements/measure.ts';
import { median, summarize } from '../measurements/summary.ts';
import { formatTable } from '../report/format-table.ts';
import { atMost, ratio } from '../report/goals.ts';
import { createReport, type Report } from '../report/report.ts';

/** Keeps the server under load for minutes, to see whether its memory grows. */
export async function soak(bench: Bench, { minutes }: { minutes: number }): Promise<Report> {
  const seconds = minutes * 60;
  const every = Math.min(30, seconds / 8);
  const samples: number[] = [];
  await bench.database.empty();
  const measurement = await measure(bench, oursRest, {
    connections: 32,
    warmUp: 6,
    seconds,
    sample: { every, take: ({ memory }) => samples.push(memory) },
  });
  const summary = summarize(oursRest, [measurement]);
  const report = createReport([summary], {
    base: summary,
    // Garbage collection makes the heap's size vary, so up to a tenth more does not count as growth.
    goals: [
      atMost(
        1.1,
        'memory in the last quarter ÷ memory in the second quarter',
        memoryGrowth(samples),
      ),
    ],
  });
  const rows = samples.map((memory, index) => [
    String((index + 1) * every),
    (memory / 2 ** 20).toFixed(0),
  ]);
  return {
    ...report,
    text: `${report.text}\n\n${formatTable(['second', 'MB'], rows)}`,
    measured: { summary, samples },
  };
}

/** Compares the last quarter with the second. In the first, a new process allocates its memory. */
export function memoryGrowth(samples: readonly number[]): number | undefined {
  const quarter = Math.floor(samples.length / 4);
  return ratio(median(samples.slice(-quarter)), median(samples.slice(quarter, 2 * quarter)));
}
