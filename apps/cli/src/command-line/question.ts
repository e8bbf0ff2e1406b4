import { createInterface } from 'node:readline/promises';
import { PassThrough } from 'node:stream';
import { type DatabaseOptions, parseDatabaseUrl } from '@plant-store/core/read';
import { CommandError, usageError } from './errors.ts';

/** Whether a person can read a question on stderr and answer it. */
export function isInteractive(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** Rejects a command that must ask for a confirmation, but cannot ask. */
export function requireTerminal(purpose: string, canAsk = isInteractive()): void {
  if (!canAsk) throw usageError(`cannot ask without a terminal: add --yes to ${purpose}`);
}

/** Asks a question on stderr, because standard output may be a pipe. Only y or yes confirms. */
export async function confirm(question: string): Promise<boolean> {
  process.stderr.write(`${question} [y/N] `);
  // With `terminal: false`, Ctrl+C ends the process, as in other commands.
  const lines = createInterface({ input: process.stdin, terminal: false });
  for await (const line of lines) return /^\s*y(es)?\s*$/i.test(line);
  // After Ctrl+D, the input ends without a line, so the cursor stays in the line of the question.
  process.stderr.write('\n');
  return false;
}

/** The SQLSTATE of a wrong or missing password. */
const invalidPassword = '28P01';

/**
 * Asks for the password on a terminal, as psql does, and returns the settings with the password.
 *
 * @throws `error` when a missing password is not the cause of `error`, or when there is no terminal
 */
export async function askPassword(
  settings: DatabaseOptions,
  error: unknown,
): Promise<DatabaseOptions> {
  if (!('databaseUrl' in settings) || !isPasswordError(error) || !isInteractive()) throw error;
  const { databaseUrl: url } = settings;
  const { password, user = '' } = parseDatabaseUrl(url);
  if (password !== undefined) throw error;
  const typed = await readSecret(`Password for the database user ${user}: `);
  const parameter = `password=${encodeURIComponent(typed)}`;
  return { ...settings, databaseUrl: `${url}${url.includes('?') ? '&' : '?'}${parameter}` };
}

function isPasswordError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && error.code === invalidPassword) || isPasswordError(error.cause);
}

/** Reads a line from the terminal, and does not show the line. */
async function readSecret(question: string): Promise<string> {
  // This stream discards the characters of the password, which `readline` would otherwise show.
  const output = new PassThrough().resume();
  const lines = createInterface({ input: process.stdin, output, terminal: true });
  process.stderr.write(question);
  try {
    return await lines.question('');
  } catch (cause) {
    throw new CommandError('interrupted: nothing is done', { exitCode: 130, cause }); // Ctrl+C.
  } finally {
    lines.close();
    process.stderr.write('\n');
  }
}
