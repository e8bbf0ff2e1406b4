import type { Summary } from '../measurements/summary.ts';
import { decimal } from './decimal.ts';
import { formatTable } from './format-table.ts';

const header = [
  'contender',
  'requests/s',
  '(min–max)',
  'p50 ms',
  'p99 ms',
  'errors',
  'CPU µs',
  'Postgres µs',
  'MB',
];

/** One row for each contender, with the CPU time of its server and of Postgres for a request. */
export function costsTable(summaries: readonly Summary[]): string {
  const optional = (value: number | undefined) => (value === undefined ? '–' : decimal(value));
  const rows = summaries.map((summary) => [
    summary.title,
    decimal(summary.requestsPerSecond),
    `(${decimal(summary.min)}–${decimal(summary.max)})`,
    decimal(summary.p50, 2),
    decimal(summary.p99, 2),
    decimal(summary.errors),
    optional(summary.cpuPerRequest),
    optional(summary.databaseCpuPerRequest),
    optional(summary.memory && summary.memory / 2 ** 20),
  ]);
  return formatTable(header, rows);
}
