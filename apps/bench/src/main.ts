import { writeFile } from 'node:fs/promises';
import { startBenchDatabase } from './bench-database.ts';
import { goalsTable } from './goals-table.ts';
import { FreeIds } from './ids.ts';
import { findLoadGenerator } from './load.ts';
import { describeMachine } from './machine.ts';
import { modes } from './modes.ts';
import { help, type Options, readOptions, UsageError } from './options.ts';

// What was started is stopped when this process exits, and so it must on these signals.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

try {
  const options = readOptions(process.argv.slice(2));
  if (options) await run(options);
  else console.log(help);
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(`${error.message}\n\n${help}`);
  process.exitCode = 1;
}

/** A goal that is missed is a measurement; a fault makes the run fail. */
async function run({ mode, json, ...options }: Options): Promise<void> {
  const database = await startBenchDatabase();
  try {
    const generator = await findLoadGenerator();
    const machine = describeMachine(database, generator);
    const bench = { database, generator, freeIds: new FreeIds() };
    const { text, goals, faults, measured } = await modes[mode](bench, { mode, ...options });

    console.log(`\n${Object.values(machine).join(', ')}\n\n${text}`);
    if (goals.length > 0) console.log(`\n${goalsTable(goals)}`);
    for (const fault of faults) console.log(`\nFAILED ${fault}`);
    const everything = { mode, machine, goals, faults, measured };
    if (json) await writeFile(json, `${JSON.stringify(everything, null, 2)}\n`);
    if (faults.length > 0) process.exitCode = 1;
  } finally {
    await database.stop();
  }
}
