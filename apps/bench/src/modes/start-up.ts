import { oursRest } from '../contenders/contenders.ts';
import { type BenchDatabase, openEmbedded } from '../database/bench-database.ts';
import { accessToken } from '../load/load.ts';
import type { Bench } from '../measurements/bench.ts';
import { figureColumn, rangeColumn } from '../measurements/columns.ts';
import { type Case, type Report, runPlan } from '../measurements/run-plan.ts';
import { startServer } from '../processes/start-server.ts';
import { formatTable } from '../report/format-table.ts';
import { atMost } from '../report/goals.ts';
import type { ModeOptions } from './mode-options.ts';

const [first, later, onPostgres] = ['embedded, first start', 'embedded, later starts', 'Postgres'];

/** Measures the time from the start of the process to the first response with 200. */
export function startUp(bench: Bench, { quick, rounds }: ModeOptions): Promise<Report> {
  return runPlan(bench, {
    cases: [
      startCase(first, openEmbedded),
      startCase(later, openEmbedded, 1),
      startCase(onPostgres, bench.postgres.createDatabase),
    ],
    rounds: rounds ?? (quick ? 3 : 10),
    table: (results) =>
      formatTable(
        [
          ['start', ({ title }) => title],
          figureColumn('seconds', 'seconds', 2),
          rangeColumn('seconds', 2),
        ],
        results,
      ),
    goals: (of) => [
      atMost(1, 'seconds to the first 200, Postgres', of(onPostgres, 'seconds')),
      atMost(1.5, 'seconds to the first 200, embedded, later starts', of(later, 'seconds')),
    ],
  });
}

type Open = () => Promise<BenchDatabase>;

/** Before the measured start, starts the server `earlier` times on the same database. */
function startCase(title: string, open: Open, earlier = 0): Case<{ seconds: number }> {
  return {
    name: title,
    title,
    async start() {
      const { settings, remove } = await open();
      const measure = async () => ({ seconds: await secondsToFirstPlant({ ...settings[0] }) });
      for (let start = 0; start < earlier; start++) await measure();
      return { measure, stop: async () => (await remove?.()) ?? [] };
    },
  };
}

async function secondsToFirstPlant(settings: Record<string, string>): Promise<number> {
  const { program, format } = oursRest.server;
  const start = performance.now();
  const server = await startServer(program, { ...settings, PLANT_STORE_TOKEN: accessToken });
  try {
    const { status } = await fetch(server.url + format.path, {
      method: 'POST',
      headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
      body: format.body(['{"id":1,"name":"Monstera deliciosa"}']),
    });
    if (status !== 200) throw new Error(`the server responded with ${status}`);
    return (performance.now() - start) / 1000;
  } finally {
    await server.stop();
  }
}
