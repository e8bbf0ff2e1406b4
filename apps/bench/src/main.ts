import { writeFile } from 'node:fs/promises';
import { startBenchPostgres } from './database/bench-postgres.ts';
import { findLoadGenerator } from './load/find-load-generator.ts';
import { IdAllocator } from './load/id-allocator.ts';
import { modes } from './modes/modes.ts';
import { help, type Options, readOptions, UsageError } from './options.ts';
import { goalsTable } from './report/goals-table.ts';
import { describeMachine } from './report/machine.ts';

try {
  const options = readOptions(process.argv.slice(2));
  if (options) await run(options);
  else console.log(help);
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(`${error.message}\n\n${help}`);
  process.exitCode = 1;
}

/** Runs one mode and prints its report. A fault sets exit code 1; a missed goal does not. */
async function run({ mode, json, idOrder, ...modeOptions }: Options): Promise<void> {
  const postgres = await startBenchPostgres();
  // All other processes end when this process exits.
  process.setMaxListeners(0); // Each running process has a listener.
  const stop = () => postgres.stop().finally(() => process.exit(1));
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    const database = await postgres.createDatabase();
    // Standard output is for the results.
    const progress = (line: string) => console.error(line);
    const generator = await findLoadGenerator();
    const machine = describeMachine(database, generator);
    const bench = { postgres, database, generator, ids: new IdAllocator(idOrder), progress };
    const { text, goals, faults, measured } = await modes[mode](bench, modeOptions);

    console.log(`\n${Object.values(machine).join(', ')}\n\n${text}`);
    if (goals.length > 0) console.log(`\n${goalsTable(goals)}`);
    for (const fault of faults) console.log(`\nFAILED ${fault}`);
    const output = { mode, machine, goals, faults, measured };
    if (json) await writeFile(json, `${JSON.stringify(output, null, 2)}\n`);
    if (faults.length > 0) process.exitCode = 1;
  } finally {
    await postgres.stop();
  }
}
