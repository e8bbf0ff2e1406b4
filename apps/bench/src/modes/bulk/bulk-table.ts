import { median } from '../../measurements/summary.ts';
import { formatTable } from '../../report/format-table.ts';
import type { BulkCommand, BulkName } from './commands.ts';
import type { CommandRun } from './run-command.ts';

/** The runs of each command, one in each round. */
export type BulkRuns = Partial<Record<BulkName, CommandRun[]>>;

/** The median of a figure over the rounds; undefined when it was not measured. */
export function medianOf(
  runs: readonly CommandRun[] | undefined,
  figure: (run: CommandRun) => number | undefined,
): number | undefined {
  return median((runs ?? []).map(figure).filter((value) => value !== undefined));
}

/** One row for each command. */
export function bulkTable(
  commands: Record<BulkName, BulkCommand>,
  runs: BulkRuns,
  plantCount: number,
): string {
  const rows = (Object.keys(commands) as BulkName[]).map((name) => {
    const seconds = medianOf(runs[name], (run) => run.seconds);
    const all = (runs[name] ?? []).map((run) => run.seconds);
    const range =
      seconds === undefined ? '' : ` (${decimal(Math.min(...all))}–${decimal(Math.max(...all))})`;
    return [
      commands[name].title,
      `${decimal(seconds)}${range}`,
      seconds === undefined ? '–' : Math.round(plantCount / seconds).toLocaleString('en'),
      decimal(medianOf(runs[name], (run) => run.cpuSeconds)),
      decimal(medianOf(runs[name], (run) => run.databaseCpuSeconds)),
      decimal(
        medianOf(runs[name], (run) => run.memory && run.memory / 1e6),
        0,
      ),
    ];
  });
  return formatTable(
    ['command', 'seconds (min–max)', 'plants/s', 'CPU s', 'Postgres CPU s', 'peak MB'],
    rows,
  );
}

function decimal(value: number | undefined, digits = 2): string {
  return value?.toFixed(digits) ?? '–';
}
