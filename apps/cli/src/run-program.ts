import { CommanderError } from 'commander';
import { CommandFailure, exitCodes, explain } from './command-line/errors.ts';
import { buildProgram } from './program.ts';

/** Does what was typed; says on stderr, and by the exit code, where that does not work. */
export async function runCommandLine(): Promise<void> {
  const program = buildProgram();
  try {
    await program.parseAsync();
  } catch (error) {
    process.exitCode = exitCodeOf(error);
    // Commander has said already what it does not understand.
    if (!(error instanceof CommanderError)) process.stderr.write(explain(error, program.opts()));
  }
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage;
  return error instanceof CommandFailure ? error.exitCode : exitCodes.failed;
}
