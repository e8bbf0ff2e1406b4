import { CommanderError } from 'commander';
import { CommandError, exitCodes, explain, toJson, usageError } from './command-line/errors.ts';
import { hasOutput, writeOutput } from './command-line/output.ts';
import { buildProgram, commandsIn } from './program.ts';

/**
 * Runs the command of `process.argv`. Reports an error on stderr and in the exit code. With `--json`, writes
 * the error to standard output, unless the command has already written to it.
 */
export async function runProgram(): Promise<void> {
  const words = process.argv.slice(2);
  const helpTexts: string[] = [];
  const program = await buildProgram((text) => helpTexts.push(text), commandsIn(words));
  const writeJson = async (error: unknown) => {
    // An import that stops has already written its summary, and standard output must have one JSON value.
    if (hasJsonOption(words) && !hasOutput()) await writeOutput([toJson(error)]);
  };
  try {
    await program.parseAsync().catch(async (error: unknown) => {
      // Commander throws after it has shown help or the version, or reported a usage error.
      if (!(error instanceof CommanderError)) throw error;
      process.exitCode = error.exitCode === 0 ? 0 : exitCodes.usage;
      await writeOutput(helpTexts);
      if (error.exitCode !== 0) await writeJson(usageError(error.message.replace(/^error: /, '')));
    });
  } catch (error) {
    process.exitCode = error instanceof CommandError ? error.exitCode : exitCodes.error;
    process.stderr.write(explain(error, program.opts()));
    // After an interruption, there is no error code, because the exit code names the signal.
    if (process.exitCode < 128) await writeJson(error);
  }
}

/** Whether `--json` stands before `--`. After a rejected option, Commander does not report other options. */
function hasJsonOption(words: readonly string[]): boolean {
  const end = words.indexOf('--');
  return words.slice(0, end < 0 ? words.length : end).includes('--json');
}
