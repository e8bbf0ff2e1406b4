import { CommanderError } from 'commander';
import { CommandError, exitCodes, explain, toJson, usageError } from './command-line/errors.ts';
import { hasOutput, writeOutput } from './command-line/output.ts';
import { buildProgram, commandsIn } from './program.ts';

/**
 * Runs the command in `process.argv`. Reports an error on stderr and in the exit code. With `--json`, also
 * writes the error to standard output, unless the command has already written a result.
 */
export async function runProgram(): Promise<void> {
  // A closed standard error must not stop an import: its summary and its exit code still say what is stored.
  process.stderr.on('error', () => {});
  const words = process.argv.slice(2);
  const helpTexts: string[] = [];
  const program = await buildProgram((text) => helpTexts.push(text), commandsIn(words));
  try {
    await program.parseAsync(helpWords(words), { from: 'user' }).catch(throwUsageError);
    await writeOutput(helpTexts);
  } catch (error) {
    process.exitCode = error instanceof CommandError ? error.exitCode : exitCodes.error;
    process.stderr.write(explain(error, program.opts()));
    // A signal (exit codes from 128) has no error code. A stopped import has already written its summary: a
    // second JSON value would make standard output invalid.
    const isJson = process.exitCode < 128 && hasJsonOption(words) && !hasOutput();
    if (isJson) await writeOutput([toJson(error)]);
  }
}

/** Makes `token create --help` from `help token create`, for which Commander would show the help of `token`. */
function helpWords(words: string[]): string[] {
  const [first, ...names] = words;
  return first === 'help' && names.length > 1 ? [...names, '--help'] : words;
}

/** Turns Commander's error into a usage error. Ignores Commander's error after the help or the version. */
function throwUsageError(error: unknown): void {
  if (!(error instanceof CommanderError)) throw error;
  if (error.exitCode === 0) return;
  if (error.code === 'commander.help') throw usageError('name one of these commands');
  throw usageError(error.message.replace(/^error: /, '').replace('\n', ' '));
}

/** Whether `--json` stands before `--`. Commander does not report `--json` when another option is invalid. */
function hasJsonOption(words: readonly string[]): boolean {
  const end = words.indexOf('--');
  return words.slice(0, end < 0 ? words.length : end).includes('--json');
}
