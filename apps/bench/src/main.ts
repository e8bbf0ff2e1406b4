import { availableParallelism, cpus, release, totalmem, type } from 'node:os';
import { startBenchPostgres } from './database/bench-postgres.ts';
import { findLoadGenerator } from './load/wrk-load.ts';
import { help, modes, type Options, readOptions } from './options.ts';
import { goalsTable } from './report/goals.ts';

const options = optionsOf(process.argv.slice(2));
if (options) await run(options);
else console.log(help);

function optionsOf(args: string[]): Options | undefined {
  try {
    return readOptions(args);
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${help}`);
    process.exit(1);
  }
}

/** Runs one mode and prints its report. The exit code is 1 after a fault, but 0 after a missed goal. */
async function run({ mode, ...options }: Options): Promise<void> {
  const postgres = await startBenchPostgres();
  // When this process exits, all other processes end.
  const stop = () => postgres.stop().finally(() => process.exit(1));
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    const database = await postgres.createDatabase();
    const [postgresVersion] = await database.sql`show server_version`;
    const generator = await findLoadGenerator();
    // Only the results go to standard output.
    const progress = (line: string) => console.error(line);
    const bench = { postgres, database, generator, progress };
    const { text, goals, faults } = await modes[mode](bench, options);

    const machine = [
      `${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown processor'}`,
      `${Math.round(totalmem() / 2 ** 30)} GB`,
      `${type()} ${release()}`,
      `Node ${process.version}`,
      `Postgres ${postgresVersion?.['server_version']}`,
      generator.name,
    ];
    const command = ['npx -y pnpm bench', ...process.argv.slice(2)].join(' ');
    console.log(`${command}\n\n${machine.join(', ')}\n\n${text}`);
    if (goals.length > 0) console.log(`\n${goalsTable(goals)}`);
    for (const fault of faults) console.log(`\nFAILED ${fault}`);
    if (faults.length > 0) process.exitCode = 1;
  } finally {
    await postgres.stop();
  }
}
