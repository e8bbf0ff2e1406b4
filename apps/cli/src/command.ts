import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { formatJson, readId } from '@plant-store/schemas';
import { Command, InvalidArgumentError } from 'commander';

/** Scripts rely on these codes. */
const exitCodes = `
Exit codes: 0 done, 1 error, 2 invalid argument or setting, 3 rejected rows, 130 SIGINT, 143 SIGTERM
`;

/** Makes a command that contains other commands. The command throws an error for an invalid command line. */
export function makeGroup(name: string, description: string): Command {
  const command = new Command(name).description(description);
  return command.exitOverride().configureOutput({ outputError() {} });
}

/** Makes a command with the option `--json`, and with a help text that ends with the exit codes and `details`. */
export function makeCommand(name: string, description: string, details = ''): Command {
  return makeGroup(name, description)
    .option('--json', 'write results and errors as JSON')
    .addHelpText('after', exitCodes + details);
}

/** Parses the id of a plant. */
export function parseId(text: string): bigint {
  const { id, error } = readId(text);
  if (id === undefined) throw new InvalidArgumentError(`It ${error}.`);
  return id;
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
