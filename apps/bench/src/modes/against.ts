import { existsSync } from 'node:fs';
import { openPlantStore } from '@plant-store/core';
import { oursRest, oursTrpc, oursTrpcBatch, type Server } from '../contenders/contenders.ts';
import { openEmbedded, type PostgresDatabase } from '../database/bench-database.ts';
import type { Bench } from '../measurements/bench.ts';
import { type LoadConditions, type LoadFigures, loadCase } from '../measurements/load-case.ts';
import { medianOf, type Report, type Result, runPlan, valuesOf } from '../measurements/run-plan.ts';
import { cheaperHalf } from '../measurements/statistics.ts';
import { checkOut } from '../processes/commit-checkout.ts';
import { type Column, decimal, formatTable } from '../report/format-table.ts';
import type { ModeOptions } from './mode-options.ts';

type Create = Pick<LoadConditions, 'title' | 'order' | 'open'> & {
  readonly server: Server;
  /** Measures the cost of webhooks: only the server of this working tree has three idle webhooks. */
  readonly hasWebhooks?: true;
};

/** The kinds of create that the benchmark can measure for two commits. */
export const creates: Readonly<Record<string, Create>> = {
  rest: { ...oursRest, title: 'REST', order: 'int64' },
  'rest-small': { ...oursRest, title: 'REST', order: 'small' },
  'rest-webhooks': { ...oursRest, title: 'REST, webhooks', order: 'int64', hasWebhooks: true },
  trpc: { ...oursTrpc, title: 'tRPC', order: 'int64' },
  'trpc-small': { ...oursTrpc, title: 'tRPC', order: 'small' },
  'trpc-10': { ...oursTrpcBatch, title: 'tRPC, batches of 10', order: 'int64' },
  embedded: { ...oursRest, title: 'REST, embedded database', order: 'int64', open: openEmbedded },
};
const usual = ['rest', 'rest-small', 'trpc', 'trpc-10'];

/**
 * Compares the CPU time of a create in this working tree and in another commit. Both servers run at the same
 * time and get load in turns of a few seconds. A change in the machine's speed affects both servers.
 */
export async function against(bench: Bench, options: ModeOptions): Promise<Report> {
  const { quick, rounds = quick ? 2 : 4, words } = options;
  const [commit = '', ...names] = words;
  const chosen = names.length > 0 ? names : usual;
  bench.progress(`building ${commit}`);
  const checkout = await checkOut(commit);
  try {
    const times = quick ? { warmUp: 10, seconds: 1 } : { warmUp: 20, seconds: 2 };
    const cases = [];
    for (const [name, create] of Object.entries(creates)) {
      if (!chosen.includes(name)) continue;
      for (const version of ['before', 'now']) {
        const { program } = create.server;
        const server =
          version === 'now' ? create.server : { ...create.server, program: inCheckout(program) };
        const { open = await createDatabase(create.hasWebhooks && version === 'now') } = create;
        const of = { ...create, name: `${name}, ${version}`, title: `${create.title}, ${version}` };
        cases.push(loadCase(bench, times, { ...of, server, open, connections: 32 }));
      }
    }
    return await runPlan(bench, { cases, rounds, turns: 8, table: changesTable });
  } finally {
    checkout.remove();
  }

  async function createDatabase(hasWebhooks = false) {
    const database = await bench.postgres.createDatabase();
    return hasWebhooks ? () => withWebhooks(database) : database.emptied;
  }

  /** Returns the path of the same program in the other commit, even when its old path was different. */
  function inCheckout(program: string): string {
    const path = checkout.pathOf(program);
    return existsSync(path) ? path : path.replace('bin/server.js', 'src/main.ts');
  }
}

/** Empties a database, and makes three webhooks. The webhooks stay idle, because nobody deletes a plant. */
async function withWebhooks(database: PostgresDatabase): Promise<PostgresDatabase> {
  await database.sql`truncate plants, webhooks`;
  const store = await openPlantStore({ databaseUrl: database.settings[0]?.['DATABASE_URL'] ?? '' });
  for (const name of ['1', '2', '3']) {
    await store.webhooks.create('https://1.1.1.1/', { name, only: 'deleted' });
  }
  await store.close();
  return database.checkpointed();
}

/** The results of one kind of create with both commits. */
type Change = readonly [before: Result<LoadFigures>, now: Result<LoadFigures>];

/** Makes a table with a row for each kind of create. Each kind has two results: before and now. */
export function changesTable(results: readonly Result<LoadFigures>[]): string {
  const changes = results.flatMap((now, i): Change[] => {
    const before = results[i - 1];
    return i % 2 === 1 && before ? [[before, now]] : [];
  });
  const columns: Column<Change>[] = [
    ['create', ([before]) => before.title.replace(', before', '')],
    ['server µs', arrow((result) => cost(result, 'serverCpu'), 1)],
    ['now ÷ before', (change) => ratio(change, 'serverCpu')],
    [
      '(each round)',
      (change) =>
        `(${roundsOf(change)
          .map((each) => ratio(each, 'serverCpu'))
          .join(' ')})`,
    ],
    ['Postgres µs', arrow((result) => cost(result, 'databaseCpu'), 1)],
    ['now ÷ before', (change) => ratio(change, 'databaseCpu')],
    ['requests/s', arrow((result) => medianOf(result, 'requestsPerSecond'))],
    ['MB', arrow((result) => medianOf(result, 'megabytes'))],
  ];
  return `${formatTable(columns, changes)}\n\n${legend}`;
}

/** Splits a change into one change for each round. */
const roundsOf = ([before, now]: Change) =>
  before.rounds.map((turns, i): Change => {
    return [
      { ...before, rounds: [turns] },
      { ...now, rounds: [now.rounds[i] ?? []] },
    ];
  });

const arrow =
  (of: (result: Result<LoadFigures>) => number, digits = 0) =>
  (change: Change) =>
    change.map((result) => decimal(of(result), digits)).join(' → ');

type Cost = 'serverCpu' | 'databaseCpu';

const cost = (result: Result<LoadFigures>, name: Cost) => cheaperHalf(valuesOf(result, name));

/** Returns a dash for an embedded database, which has no process and therefore no CPU time of its own. */
const ratio = ([before, now]: Change, name: Cost) =>
  decimal(cost(now, name) / (cost(before, name) || Number.NaN), 3);

const legend = `Before → now. Server µs and Postgres µs are the CPU time for a request, which has one plant or ten: the
means of the cheaper half of the turns, because other programs on the machine only add to a turn's cost.
Requests/s and MB are medians.`;
