import { writeFile } from 'node:fs/promises';
import { startBenchServer } from './bench-server.ts';
import { goalsTable } from './goals-table.ts';
import { FreeIds } from './ids.ts';
import { findLoadGenerator } from './load.ts';
import { describeMachine } from './machine.ts';
import { modes } from './modes.ts';
import { help, type Options, readOptions, UsageError } from './options.ts';

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
  const server = await startBenchServer();
  // Everything else is stopped as this process exits.
  const stop = () => server.stop().finally(() => process.exit(1));
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    const database = await server.createDatabase();
    // Beside the results on standard output.
    const progress = (line: string) => console.error(line);
    const generator = await findLoadGenerator();
    const machine = describeMachine(database, generator);
    const bench = { server, database, generator, freeIds: new FreeIds(), progress };
    const { text, goals, faults, measured } = await modes[mode](bench, { mode, ...options });

    console.log(`\n${Object.values(machine).join(', ')}\n\n${text}`);
    if (goals.length > 0) console.log(`\n${goalsTable(goals)}`);
    for (const fault of faults) console.log(`\nFAILED ${fault}`);
    const everything = { mode, machine, goals, faults, measured };
    if (json) await writeFile(json, `${JSON.stringify(everything, null, 2)}\n`);
    if (faults.length > 0) process.exitCode = 1;
  } finally {
    await server.stop();
  }
}
