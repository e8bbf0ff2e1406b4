import type { IdOrder } from '../load/load.ts';
import type { Summary } from '../measurements/summary.ts';
import { decimal } from './decimal.ts';
import { formatTable } from './format-table.ts';

const header = [
  'contender',
  'ids',
  'requests/s',
  '(min–max)',
  'plants/s',
  'p50 ms',
  'p99 ms',
  'errors',
  'rows − replies',
  'server µs',
  'Postgres µs',
  'sum µs',
  'MB',
];

const legend = `Figures are medians of the rounds. × is the ratio to the row that shows 1.00× in every column.
Rows − replies: plants added to the table, minus plants answered with 200, both with the warm-up.
Requests that are pending when a load ends may be stored too, so the difference is correct if it is
in the range in parentheses. Server µs and Postgres µs are the CPU time for a request. A request with
ten plants is one request. MB is the server's memory at the end of the load.`;

const idNames: Record<IdOrder, string> = {
  int64: '19 digits',
  sequential: 'small',
  scattered: 'scattered',
  stored: 'stored',
};

/** One row for each contender. Each figure is followed by its ratio to the figure of `base`. */
export function resultsTable(summaries: readonly Summary[], base: Summary | undefined): string {
  const figure = (summary: Summary, of: (summary: Summary) => number | undefined, digits = 0) => {
    const [value, baseValue] = [of(summary), base && of(base)];
    if (value === undefined) return '–';
    return (
      decimal(value, digits) + (baseValue ? `${(value / baseValue).toFixed(2)}×`.padStart(7) : '')
    );
  };
  const rows = summaries.map((summary) => [
    summary.title,
    summary.idOrder ? idNames[summary.idOrder] : '–',
    figure(summary, ({ requestsPerSecond }) => requestsPerSecond),
    `(${decimal(summary.min)}–${decimal(summary.max)})`,
    figure(summary, ({ plantsPerSecond }) => plantsPerSecond),
    figure(summary, ({ p50 }) => p50, 2),
    figure(summary, ({ p99 }) => p99, 2),
    decimal(summary.errors),
    rowsMinusReplies(summary),
    figure(summary, ({ cpuPerRequest }) => cpuPerRequest, 1),
    figure(summary, ({ databaseCpuPerRequest }) => databaseCpuPerRequest, 1),
    figure(summary, ({ totalCpuPerRequest }) => totalCpuPerRequest, 1),
    figure(summary, ({ memory }) => memory && memory / 2 ** 20),
  ]);
  return `${formatTable(header, rows)}\n\n${legend}`;
}

function rowsMinusReplies({ rows, acknowledged, unanswered }: Summary): string {
  if (unanswered === 0) return '–';
  const difference = rows - acknowledged;
  return `${decimal(rows)} − ${decimal(acknowledged)} = ${difference} (0 to ${unanswered})`;
}
