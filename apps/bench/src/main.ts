import { writeFile } from 'node:fs/promises';
import { startBenchDatabase } from './bench-database.ts';
import { compareContenders } from './compare-contenders.ts';
import { FreeIds } from './ids.ts';
import { findLoadGenerator } from './load.ts';
import { help, type Options, readOptions, UsageError } from './options.ts';

// Whatever was started is stopped when this process ends, and it ends on these signals.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

try {
  const options = readOptions(process.argv.slice(2));
  if (options) process.exitCode = await run(options);
  else console.log(help);
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(`${error.message}\n\n${help}`);
  process.exitCode = 1;
}

async function run(options: Options): Promise<number> {
  const database = await startBenchDatabase();
  try {
    const bench = { database, generator: await findLoadGenerator(), freeIds: new FreeIds() };
    const { text, faults, ...rest } = await compareContenders(bench, options);
    console.log(text);
    for (const fault of faults) console.log(`FAILED ${fault}`);
    if (options.json) await writeFile(options.json, JSON.stringify({ ...rest, faults }, null, 2));
    return faults.length > 0 ? 1 : 0;
  } finally {
    await database.stop();
  }
}
