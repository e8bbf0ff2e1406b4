import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { explainIdText, formatJson } from '@plant-store/schemas';
import { Command, InvalidArgumentError } from 'commander';

/** The line about exit codes in the help. Scripts rely on these codes. */
const exitCodes =
  'Exit codes: 0 done, 1 an error stopped the command, 2 an argument or a setting is not valid';

interface CommandHelp {
  /** Examples without the name of the program. */
  examples: string[];
  /** Paragraphs below the options, with a line break at the end. */
  details?: string;
  exitCodes?: string;
}

/** Makes a command with the parts that every command has. */
export function makeCommand(name: string, description: string, help: CommandHelp): Command {
  const { details = '', examples } = help;
  const lines = examples.map((words) => `  plant-store ${words}\n`).join('');
  const text = `${details}\n${help.exitCodes ?? exitCodes}\n\nExamples:\n${lines}`;
  return new Command(name)
    .description(description)
    .option('--json', 'write results and errors as JSON')
    .addHelpText('after', text);
}

/** Parses the id of a plant. */
export function parseId(text: string): bigint {
  const error = explainIdText(text);
  if (error !== undefined) throw new InvalidArgumentError(`It ${error}.`);
  return BigInt(text);
}

/** Parses a number from 1 to 999999999. */
export function parseCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number from 1 to 999999999.');
}

/** Writes a text, and waits while the reader is slow. */
export async function write(text: string, output: Writable = process.stdout): Promise<void> {
  if (!output.write(text)) await once(output, 'drain');
}

/** Writes values as lines of JSON, with exact ids. */
export async function writeJson(...values: object[]): Promise<void> {
  if (values.length > 0) await write(values.map((value) => `${formatJson(value)}\n`).join(''));
}
