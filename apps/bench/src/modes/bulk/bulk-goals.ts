import { atLeast, atMost, type Goal, ratio } from '../../report/goals.ts';
import { type BulkRuns, medianOf } from './bulk-table.ts';
import type { BulkName } from './commands.ts';

/** The speeds beside psql's and each other, and the greatest memory. */
export function bulkGoals(runs: BulkRuns): Goal[] {
  const seconds = (name: BulkName) => medianOf(runs[name], (run) => run.seconds);
  /** How fast a command is, relative to another one. */
  const speed = (name: BulkName, base: BulkName) => ratio(seconds(base), seconds(name));
  const memory = (...names: BulkName[]) => {
    const peaks = names
      .flatMap((name) => runs[name] ?? [])
      .flatMap((run) => run.memory ?? [])
      .map((bytes) => bytes / 1e6);
    return peaks.length > 0 ? Math.max(...peaks) : undefined;
  };
  return [
    atLeast(0.8, 'speed of export CSV ÷ \\copy to', speed('exportCsv', 'copyTo')),
    atLeast(0.5, 'speed of export NDJSON ÷ \\copy to', speed('exportNdjson', 'copyTo')),
    atLeast(0.6, 'speed of import CSV ÷ \\copy from', speed('importCsv', 'copyFrom')),
    atLeast(0.6, 'speed of import NDJSON ÷ \\copy from', speed('importNdjson', 'copyFrom')),
    atLeast(
      0.5,
      'speed of import, 0.1 % of the ids taken ÷ none',
      speed('importFewTaken', 'importCsv'),
    ),
    atLeast(0.5, 'speed of import, all ids taken ÷ none', speed('importAllTaken', 'importCsv')),
    atMost(
      200,
      'peak MB, Postgres',
      memory(
        ...(['exportCsv', 'exportNdjson', 'importCsv', 'importNdjson'] as const),
        ...(['importFewTaken', 'importAllTaken'] as const),
      ),
    ),
    atMost(500, 'peak MB, embedded', memory('importEmbedded', 'exportEmbedded')),
  ];
}
