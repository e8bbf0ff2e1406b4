import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPlantStore } from '@plant-store/core';
import type { BenchDatabase } from '../../database/bench-database.ts';
import type { Bench } from '../../measurements/bench.ts';
import { execute } from '../../processes/execute.ts';
import type { Report } from '../../report/report.ts';
import { bulkGoals } from './bulk-goals.ts';
import { type BulkRuns, bulkTable } from './bulk-table.ts';
import { type BulkCommand, type BulkName, bulkCommands, type Place } from './commands.ts';
import { runCommand } from './run-command.ts';

const plantCount = 1_000_000;

/** Measures the import and the export of a million plants, beside psql's `\copy`. */
export async function bulk(
  { postgres, database, progress }: Bench,
  { quick }: { quick: boolean },
): Promise<Report> {
  const directory = await mkdtemp(join(tmpdir(), 'plant-store-bulk-'));
  const commands = bulkCommands(database, directory);
  const entries = Object.entries(commands) as [BulkName, BulkCommand][]; // The keys of `commands`.
  const hasPsql = await execute('psql', ['--version']).then(
    () => true,
    () => false,
  );
  const runs: BulkRuns = {};
  const faults: string[] = [];
  try {
    for (let round = 0; round < (quick ? 1 : 3); round++) {
      // A new embedded database needs far more time and memory than one that exists.
      const dataDirectory = join(directory, 'embedded');
      await rm(dataDirectory, { recursive: true, force: true });
      await (await openPlantStore({ dataDirectory })).close();
      for (const [name, { title, place, command, needsPsql }] of entries) {
        if (needsPsql && !hasPsql) continue;
        await prepare(database, place);
        const run = await runCommand(command, postgres.pid);
        progress(`round ${round + 1}, ${title}: ${run.seconds.toFixed(2)} s`);
        runs[name] = [...(runs[name] ?? []), run];
        const count = await database.countPlants();
        if (place !== 'embedded' && count !== plantCount) {
          faults.push(`${title}: ${count} plants are in the table`);
        }
      }
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  return {
    text: bulkTable(commands, runs, plantCount),
    goals: bulkGoals(runs),
    faults,
    measured: runs,
  };
}

async function prepare(database: BenchDatabase, place: Place): Promise<void> {
  if (place === 'embedded') return;
  if (place === 'full table' || place === 'all ids taken') {
    if ((await database.countPlants()) === plantCount) return database.checkpoint();
    await database.empty();
    return database.fillForReads();
  }
  await database.empty();
  if (place === 'few ids taken') await database.fillForReads(1000);
}
