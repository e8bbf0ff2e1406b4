import { formatTable } from '../report/format-table.ts';
import { figureColumn, rangeColumn, ratioColumn } from './columns.ts';
import type { LoadFigures } from './load-case.ts';
import type { Result } from './run-plan.ts';

/** Formats the results as a table with one row for each case. */
export function loadTable(results: readonly Result<LoadFigures>[]): string {
  const table = formatTable(
    [
      ['contender', ({ title }) => title],
      figureColumn('requests/s', 'requestsPerSecond'),
      rangeColumn('requestsPerSecond'),
      figureColumn('plants/s', 'plantsPerSecond'),
      ratioColumn('÷ first', 'plantsPerSecond', results),
      figureColumn('p50 ms', 'p50', 2),
      figureColumn('p99 ms', 'p99', 2),
      figureColumn('server µs', 'serverCpu', 1),
      figureColumn('Postgres µs', 'databaseCpu', 1),
      figureColumn('sum µs', 'totalCpu', 1),
      ratioColumn('÷ first', 'totalCpu', results),
      figureColumn('processes', 'processes'),
      figureColumn('MB', 'megabytes'),
    ],
    results,
  );
  return `${table}

Figures are medians of the rounds. ÷ first is the ratio to the first row. Server µs and Postgres µs are
the CPU time for a request, with that of all child processes. A request with ten plants is one request.
Processes and MB are the server's processes and their memory at the end of the load.`;
}
