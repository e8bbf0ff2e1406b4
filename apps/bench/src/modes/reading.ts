import {
  type Contender,
  fastifyPostgres,
  oursRest,
  trpcToOpenapi,
} from '../contenders/contenders.ts';
import { addMillionPlants } from '../database/million-plants.ts';
import type { ReadFormats } from '../load/request-format.ts';
import type { Bench } from '../measurements/bench.ts';
import { type LoadConditions, type LoadFigures, loadCase } from '../measurements/load-case.ts';
import { loadTable } from '../measurements/load-table.ts';
import { type Medians, type Report, runPlan } from '../measurements/run-plan.ts';
import { atLeast, atMost, type Goal } from '../report/goals.ts';
import { loadTimes, type ModeOptions } from './mode-options.ts';
import { searching } from './searching.ts';

/** Measures reads and searches among a million plants, and how much a load of creates delays reads. */
export async function reading(bench: Bench, options: ModeOptions): Promise<Report> {
  const times = loadTimes(options);
  const { sql, checkpointed: open } = bench.database;
  await addMillionPlants(sql);
  const alone = { connections: 1, open };
  const conditions = [
    ...(['get', 'list'] as const).flatMap((operation) =>
      options.contenders.flatMap((contender) =>
        readsOf(contender, operation, operation, { connections: 32, open }),
      ),
    ),
    ...(await longReads(bench)),
    ...readsOf(oursRest, 'get', noCreates, alone),
    ...readsOf(oursRest, 'get', fullLoad, { ...alone, creating: 32 }),
    ...(await tagIndexCreates(bench)),
  ];
  const loads = await runPlan(bench, {
    cases: conditions.map((each) => loadCase(bench, times, each)),
    rounds: times.rounds,
    table: loadTable,
    goals: readingGoals,
  });
  const searches = await searching(bench, times.rounds);
  const faults = [...loads.faults, ...searches.faults];
  return { text: `${loads.text}\n\n${searches.text}`, goals: loads.goals, faults };
}

const noCreates = 'one get at a time, no creates';
const fullLoad = 'one get at a time, full load of creates';

/** Returns the load conditions for reads. The list is empty for a contender whose reads are not measured. */
export function readsOf(
  { name, title, server }: Contender,
  operation: keyof ReadFormats,
  label: string,
  conditions: Pick<LoadConditions, 'connections' | 'open' | 'creating'>,
): LoadConditions[] {
  if (!server?.reads) return [];
  return [
    {
      name: `${name}, ${label}`,
      title: `${title}, ${label}`,
      server: { ...server, format: server.reads[operation], storesPlants: false },
      order: 'stored',
      ...conditions,
    },
  ];
}

/** Returns the load conditions for lists of 1,000 plants, and for lists of plants with names of 1 kB. */
async function longReads({ database, postgres }: Bench): Promise<LoadConditions[]> {
  const longNames = await postgres.createDatabase();
  await addMillionPlants(longNames.sql, 100);
  await longNames.sql`update plants set name = rpad(name, 1000, ' ' || name)`;
  return [oursRest, fastifyPostgres].flatMap((contender) => [
    ...readsOf(contender, 'longList', 'list of 1,000', {
      connections: 32,
      open: database.checkpointed,
    }),
    ...readsOf(contender, 'list', 'list, names of 1 kB', {
      connections: 32,
      open: longNames.checkpointed,
    }),
  ]);
}

/** Returns the load conditions for creates in two tables of a million plants, one with an empty tag index. */
async function tagIndexCreates({ postgres }: Bench): Promise<LoadConditions[]> {
  const conditions = { ...oursRest, connections: 32, order: 'int64' } as const;
  const labels = ['create, with the index on tags', 'create, without the index on tags'];
  const [indexed, other] = [await postgres.createDatabase(), await postgres.createDatabase()];
  // At its start, the server builds a missing index. An empty index with the same name prevents this.
  await other.sql`drop index plants_tag`;
  await other.sql`create index plants_tag on plants (id) where false`;
  for (const { sql } of [indexed, other]) await addMillionPlants(sql);
  return [indexed, other].map(({ checkpointed: open }, i) => {
    return { ...conditions, name: `${labels[i]}`, title: `${oursRest.title}, ${labels[i]}`, open };
  });
}

export function readingGoals(of: Medians<LoadFigures>): Goal[] {
  const goal = (bound: number, operation: keyof ReadFormats, { name, title }: Contender) => {
    const speed = (each: string) => of(`${each}, ${operation}`, 'requestsPerSecond');
    return atLeast(bound, `${operation}, ours REST ÷ ${title}`, speed(oursRest.name) / speed(name));
  };
  // autocannon counts whole milliseconds, so a shorter time is 0.
  const p99 = (label: string) => of(`${oursRest.name}, ${label}`, 'p99') || 1;
  return [
    goal(1.5, 'get', fastifyPostgres),
    goal(4, 'get', trpcToOpenapi),
    goal(0.9, 'list', fastifyPostgres),
    goal(2, 'list', trpcToOpenapi),
    atMost(5, 'p99 of a get, full load of creates ÷ no creates', p99(fullLoad) / p99(noCreates)),
  ];
}
