import { oursRest } from '../contenders/contenders.ts';
import { rareGenus } from '../database/million-plants.ts';
import { accessToken } from '../load/load.ts';
import type { Bench } from '../measurements/bench.ts';
import { figureColumn } from '../measurements/columns.ts';
import { type Case, type Report, type Result, runPlan } from '../measurements/run-plan.ts';
import { sum } from '../measurements/statistics.ts';
import { startServer } from '../processes/start-server.ts';
import { usageOf } from '../processes/usage.ts';
import { formatTable } from '../report/format-table.ts';

/** Measures a search that finds ten plants in a table of a million plants. */
export function searching(bench: Bench, rounds: number): Promise<Report> {
  return runPlan(bench, { cases: [searchCase(bench)], rounds, turns: 3, table: searchTable });
}

type SearchFigures = Record<'last' | 'first' | 'pages' | 'serverCpu' | 'databaseCpu', number>;

function searchCase({ database }: Bench): Case<SearchFigures> {
  return {
    name: 'search',
    title: `${oursRest.title}, search`,
    async start() {
      await database.checkpointed();
      const { program, env } = oursRest.server;
      const settings = { ...env, ...database.settings[0], PLANT_STORE_TOKEN: accessToken };
      const server = await startServer(program, settings);
      const cpuOf = async (pids: readonly number[]) =>
        sum((await Promise.all(pids.map(usageOf))).map(({ cpu }) => cpu)) * 1_000;
      const usage = () => Promise.all([cpuOf([server.pid]), cpuOf(database.pids)]);
      const faults: string[] = [];
      return {
        async measure() {
          const [server0, database0] = await usage();
          const { found, ...times } = await search(server.url);
          const [server1, database1] = await usage();
          if (found !== 10) faults.push(`the search found ${found} plants`);
          return { ...times, serverCpu: server1 - server0, databaseCpu: database1 - database0 };
        },
        async stop() {
          await server.stop();
          return faults;
        },
      };
    },
  };
}

/** Reads all pages of a search. Returns after how many milliseconds the first and the last plant arrived. */
async function search(url: string) {
  const startedAt = performance.now();
  const elapsed = () => performance.now() - startedAt;
  const headers = { authorization: `Bearer ${accessToken}` };
  let [found, pages, first] = [0, 0, Number.NaN];
  for (let after: string | undefined = ''; after !== undefined; pages++) {
    const query = `search=${rareGenus.toLowerCase()}${after}`;
    const response = await fetch(new URL(`/plants?${query}`, url), { headers });
    const json = await response.text();
    if (!response.ok) throw new Error(json);
    const count = json.match(/"id":/g)?.length ?? 0;
    if (found === 0 && count > 0) first = elapsed();
    found += count;
    // The id is text, because JavaScript would round a number.
    const [, next] = /"next":(-?\d+)}$/.exec(json) ?? [];
    after = next && `&after=${next}`;
  }
  return { found, last: elapsed(), first, pages };
}

function searchTable(results: readonly Result<SearchFigures>[]): string {
  return formatTable(
    [
      ['a search that finds ten of a million plants', ({ title }) => title],
      figureColumn('first plant ms', 'first'),
      figureColumn('all plants ms', 'last'),
      figureColumn('pages', 'pages'),
      figureColumn('server CPU ms', 'serverCpu'),
      figureColumn('Postgres CPU ms', 'databaseCpu'),
    ],
    results,
  );
}
