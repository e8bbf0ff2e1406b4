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

const legend = `Medians of the rounds; × is the ratio to the line that has 1.00 throughout. Rows − replies: plants in
the table less plants answered with 200, warm-up included; what was under way when a load ended may
be stored too, so any number up to that in parentheses is right. CPU and MB are the server's.`;

/** A line for each contender; beside each figure, its ratio to that of `base`. */
export function resultsTable(summaries: readonly Summary[], base: Summary | undefined): string {
  const figure = (summary: Summary, of: (summary: Summary) => number | undefined, digits = 0) => {
    const [value, ours] = [of(summary), base && of(base)];
    if (value === undefined) return '–';
    return decimal(value, digits) + (ours ? `${(value / ours).toFixed(2)}×`.padStart(7) : '');
  };
  const rows = summaries.map((summary) => [
    summary.title,
    figure(summary, ({ requestsPerSecond }) => requestsPerSecond),
    `(${decimal(summary.min)}–${decimal(summary.max)})`,
    figure(summary, ({ plantsPerSecond }) => plantsPerSecond),
    figure(summary, ({ p50 }) => p50, 2),
    figure(summary, ({ p99 }) => p99, 2),
    decimal(summary.errors),
    rowsAndReplies(summary),
    figure(summary, ({ cpuSeconds }) => cpuSeconds, 2),
    figure(summary, ({ memory }) => memory && memory / 2 ** 20),
  ]);
  return `${table(head, rows)}\n\n${legend}`;
}

function rowsAndReplies({ rows, acknowledged, unanswered }: Summary): string {
  if (unanswered === 0) return '–';
  const difference = rows - acknowledged;
  return `${decimal(rows)} − ${decimal(acknowledged)} = ${difference} (0 to ${unanswered})`;
}

function decimal(value: number, digits = 0): string {
  const shape = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return value.toLocaleString('en', shape);
}
