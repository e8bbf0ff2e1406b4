import { CommanderError } from 'commander';
import { CommandError, exitCodes, explain } from './command-line/errors.ts';
import { writeOutput } from './command-line/output.ts';
import { buildProgram } from './program.ts';

/** Runs the command of `process.argv`. Reports an error on stderr and in the exit code. */
export async function runProgram(): Promise<void> {
  const helpTexts: string[] = [];
  const program = buildProgram((text) => helpTexts.push(text));
  try {
    await program.parseAsync().catch(async (error: unknown) => {
      // Commander throws after it has shown help or the version, or reported a usage error.
      if (!(error instanceof CommanderError)) throw error;
      process.exitCode = error.exitCode === 0 ? 0 : exitCodes.usage;
      await writeOutput(helpTexts);
    });
  } catch (error) {
    process.exitCode = error instanceof CommandError ? error.exitCode : exitCodes.error;
    process.stderr.write(explain(error, program.opts()));
  }
}
