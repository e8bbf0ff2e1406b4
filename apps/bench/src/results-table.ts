import { oursRest } from './contenders.ts';
import type { Summary } from './summary.ts';
import { table } from './table.ts';

const head = [
  'contender',
  'requests/s',
  '(min–max)',
  'plants/s',
  'p50 ms',
  'p99 ms',
  'errors',
  'rows − replies',
  'CPU s',
  'MB',
];

/** A line for each contender; behind each figure, its ratio to that of ours over REST. */
export function resultsTable(summaries: readonly Summary[]): string {
  const base = summaries.find(({ name }) => name === oursRest.name);
  const figure = (summary: Summary, of: (summary: Summary) => number | undefined, digits = 0) => {
    const value = of(summary);
    if (value === undefined) return '–';
    const ours = base && of(base);
    return thousands(value, digits) + (ours ? ` ${(value / ours).toFixed(2)}×`.padStart(7) : '');
  };
  const rows = summaries.map((summary) => [
    summary.title,
    figure(summary, ({ requestsPerSecond }) => requestsPerSecond),
    `(${thousands(summary.min)}–${thousands(summary.max)})`,
    figure(summary, ({ plantsPerSecond }) => plantsPerSecond),
    figure(summary, ({ p50 }) => p50, 2),
    figure(summary, ({ p99 }) => p99, 2),
    thousands(summary.errors),
    `${thousands(summary.rows)} − ${thousands(summary.acknowledged)} = ${summary.rows - summary.acknowledged}`,
    figure(summary, ({ cpuSeconds }) => cpuSeconds, 2),
    figure(summary, ({ memory }) => memory && memory / 2 ** 20),
  ]);
  return table(head, rows);
}

function thousands(value: number, digits = 0): string {
  return value.toLocaleString('en', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}
