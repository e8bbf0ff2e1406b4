import { oursRest } from '../contenders/contenders.ts';
import type { Bench } from '../measurements/bench.ts';
import { figureColumn, ratioColumn } from '../measurements/columns.ts';
import { loadCase } from '../measurements/load-case.ts';
import { type Report, runPlan } from '../measurements/run-plan.ts';
import { formatTable } from '../report/format-table.ts';
import { atMost } from '../report/goals.ts';
import { loadTimes, type ModeOptions } from './mode-options.ts';

/** Measures creates while clients are subscribed to the feed of changes. */
export function feed(bench: Bench, options: ModeOptions): Promise<Report> {
  const times = loadTimes(options);
  const cases = [0, 1, 10, 100, 1000].map((subscribers) =>
    loadCase(bench, times, {
      ...oursRest,
      name: String(subscribers),
      title: String(subscribers),
      connections: 32,
      subscribers,
    }),
  );
  return runPlan(bench, {
    cases,
    rounds: times.rounds,
    table: (results) => `${formatTable(
      [
        ['subscribers', ({ title }) => title],
        figureColumn('creates/s', 'requestsPerSecond'),
        figureColumn('server µs', 'serverCpu', 1),
        figureColumn('Postgres µs', 'databaseCpu', 1),
        figureColumn('sum µs', 'totalCpu', 1),
        ratioColumn('÷ first', 'totalCpu', results),
        figureColumn('feed p99 ms', 'feedP99', 1),
        figureColumn('MB', 'megabytes'),
      ],
      results,
    )}

Each subscriber gets every create. µs are the CPU time for a create. Feed p99 is the time from the 200 of
a create to its arrival at a subscriber, without other load.`,
    goals: (of) => [
      atMost(
        1.1,
        'CPU of a create with 1,000 subscribers ÷ without',
        of('1000', 'totalCpu') / of('0', 'totalCpu'),
      ),
      atMost(300, 'feed p99 in ms, 1,000 subscribers', of('1000', 'feedP99')),
    ],
  });
}
