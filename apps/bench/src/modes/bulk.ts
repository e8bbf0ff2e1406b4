import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openPlantStore } from '@plant-store/core';
import { isInstalled } from '@plant-store/test-setup';
import type { PostgresDatabase } from '../database/bench-database.ts';
import { addMillionPlants } from '../database/million-plants.ts';
import { storedPlants } from '../load/ids.ts';
import type { Bench } from '../measurements/bench.ts';
import { figureColumn, rangeColumn } from '../measurements/columns.ts';
import {
  type Case,
  type Medians,
  medianOf,
  type Report,
  type Result,
  runPlan,
} from '../measurements/run-plan.ts';
import { sum } from '../measurements/statistics.ts';
import { type Command, runCommand } from '../processes/run-command.ts';
import { usageOf } from '../processes/usage.ts';
import { decimal, formatTable } from '../report/format-table.ts';
import { atLeast, atMost, type Goal } from '../report/goals.ts';
import type { ModeOptions } from './mode-options.ts';

/** Measures the import and the export of a million plants, in comparison with psql's `\copy`. */
export async function bulk(bench: Bench, { quick, rounds }: ModeOptions): Promise<Report> {
  const directory = await mkdtemp(join(tmpdir(), 'plant-store-bulk-'));
  const hasPsql = isInstalled('psql');
  try {
    return await runPlan(bench, {
      cases: commands(bench.database, directory)
        .filter(([, , command]) => hasPsql || command.program !== 'psql')
        .map((each) => bulkCase(bench.database, each)),
      rounds: rounds ?? (quick ? 1 : 3),
      table: bulkTable,
      goals: bulkGoals,
    });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** A command, and the function that prepares its database. */
type Row = readonly [title: string, prepare: () => Promise<unknown>, command: Command];

const main = fileURLToPath(new URL('../../../cli/src/main.ts', import.meta.url));

/** The first round runs the commands in this order, because the imports read the files of the exports. */
function commands(database: PostgresDatabase, directory: string): Row[] {
  const file = (name: string) => join(directory, name);
  const [csv, ndjson, other] = [file('plants.csv'), file('plants.ndjson'), file('other.csv')];
  const dataDirectory = file('embedded');
  const embedded = { PLANT_STORE_DATA_DIR: dataDirectory };
  const url = database.settings[0]?.['DATABASE_URL'] ?? '';
  const server = { DATABASE_URL: url };
  const cli = (env: Record<string, string>, ...args: string[]) => {
    return { program: process.execPath, args: [main, ...args, '--quiet'], env };
  };
  const copy = (text: string) => ({ program: 'psql', args: ['-q', url, '-c', `\\copy ${text}`] });
  const copyTo = copy(`plants to '${other}' csv header`);
  const copyFrom = copy(`plants (id, name, tag, created_at) from '${csv}' csv header`);
  const exportCsv = { ...cli(server, 'export', '--format', 'csv'), output: csv };
  const exportEmbedded = { ...cli(embedded, 'export', '--format', 'csv'), output: other };
  const importCsv = cli(server, 'import', csv);

  const empty = database.emptied;
  const full = async () => {
    if ((await database.countPlants()) === storedPlants) return database.checkpointed();
    return empty().then(({ sql }) => addMillionPlants(sql));
  };
  const fewTaken = () => empty().then(({ sql }) => addMillionPlants(sql, 1000));
  // Makes the database here, so that its time and memory do not count for the measured import.
  const newEmbedded = async () => {
    await rm(dataDirectory, { recursive: true, force: true });
    await (await openPlantStore({ dataDirectory })).close();
  };
  return [
    ['psql \\copy to, CSV', full, copyTo],
    ['export, CSV', full, exportCsv],
    ['export, NDJSON', full, { ...cli(server, 'export'), output: ndjson }],
    ['psql \\copy from, CSV', empty, copyFrom],
    ['import, CSV', empty, importCsv],
    ['import, NDJSON', empty, cli(server, 'import', ndjson)],
    ['import, CSV, 0.1 % of the ids are taken', fewTaken, importCsv],
    ['import, CSV, all ids are taken', full, importCsv],
    ['import, CSV, embedded database', newEmbedded, cli(embedded, 'import', csv)],
    ['export, CSV, embedded database', async () => {}, exportEmbedded],
  ];
}

type BulkFigures = Record<'seconds' | 'cpu' | 'databaseCpu' | 'megabytes', number>;

/** Measures a command. After each command, the table in Postgres must contain a million plants. */
function bulkCase(database: PostgresDatabase, [title, prepare, command]: Row): Case<BulkFigures> {
  const databaseCpu = async () =>
    sum((await Promise.all(database.pids.map(usageOf))).map(({ cpu }) => cpu));
  return {
    name: title,
    title,
    async start() {
      await prepare();
      return {
        async measure() {
          const before = await databaseCpu();
          const figures = await runCommand(command);
          return { ...figures, databaseCpu: (await databaseCpu()) - before };
        },
        async stop() {
          const rows = await database.countPlants();
          return rows === storedPlants ? [] : [`${rows} plants are in the table`];
        },
      };
    },
  };
}

function bulkTable(results: readonly Result<BulkFigures>[]): string {
  return formatTable(
    [
      ['command', ({ title }) => title],
      figureColumn('seconds', 'seconds', 2),
      rangeColumn('seconds', 2),
      ['plants/s', (result) => decimal(storedPlants / medianOf(result, 'seconds'))],
      figureColumn('CPU s', 'cpu', 2),
      figureColumn('Postgres CPU s', 'databaseCpu', 2),
      figureColumn('peak MB', 'megabytes'),
    ],
    results,
  );
}

/** The goals for memory, and for speed relative to psql or to another command. */
function bulkGoals(of: Medians<BulkFigures>): Goal[] {
  /** Returns the speed of a command, relative to the speed of another command. */
  const speed = (name: string, base: string) => of(base, 'seconds') / of(name, 'seconds');
  const memory = (names: string[]) => Math.max(...names.map((name) => of(name, 'megabytes')));
  const [copyTo, copyFrom] = ['psql \\copy to, CSV', 'psql \\copy from, CSV'];
  const [few, all] = ['import, CSV, 0.1 % of the ids are taken', 'import, CSV, all ids are taken'];
  const onPostgres = ['export, CSV', 'export, NDJSON', 'import, CSV', 'import, NDJSON', few, all];
  const embedded = ['import, CSV, embedded database', 'export, CSV, embedded database'];
  return [
    atLeast(0.8, 'speed of export CSV ÷ \\copy to', speed('export, CSV', copyTo)),
    atLeast(0.5, 'speed of export NDJSON ÷ \\copy to', speed('export, NDJSON', copyTo)),
    atLeast(0.6, 'speed of import CSV ÷ \\copy from', speed('import, CSV', copyFrom)),
    atLeast(0.6, 'speed of import NDJSON ÷ \\copy from', speed('import, NDJSON', copyFrom)),
    atLeast(0.5, 'speed of import, 0.1 % of the ids taken ÷ none', speed(few, 'import, CSV')),
    atLeast(0.5, 'speed of import, all ids taken ÷ none', speed(all, 'import, CSV')),
    atMost(200, 'peak MB, Postgres', memory(onPostgres)),
    atMost(500, 'peak MB, embedded', memory(embedded)),
  ];
}
