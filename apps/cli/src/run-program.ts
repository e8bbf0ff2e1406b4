import { CommanderError } from 'commander';
import { CommandError, exitCodes, explain } from './command-line/errors.ts';
import { buildProgram } from './program.ts';

/** Runs the command of `process.argv`. Reports an error on stderr and in the exit code. */
export async function runProgram(): Promise<void> {
  const program = buildProgram();
  try {
    await program.parseAsync();
  } catch (error) {
    process.exitCode = exitCodeOf(error);
    // Commander has already reported its own errors.
    if (!(error instanceof CommanderError)) process.stderr.write(explain(error, program.opts()));
  }
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage;
  return error instanceof CommandError ? error.exitCode : exitCodes.error;
}
