import { type ErrorCode, errorCatalogue, formatJson } from '@plant-store/schemas/plain';

/** The program's exit codes. Scripts rely on these codes. */
export const exitCodes = {
  /** The command could not do its work. For example, the database did not respond, or no plant has the id. */
  error: 1,
  /** An argument, an option or a setting is invalid. The command did not start. */
  usage: 2,
  /** Some rows of the file are rejected or in conflict. */
  incomplete: 3,
} as const;

interface CommandErrorOptions {
  exitCode?: number;
  /** The error code in the catalogue. Default: the catalogue's code for `cause`. */
  code?: ErrorCode;
  cause?: unknown;
}

/** An error for the user: one line that says why the command cannot do its work, and what to do. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: number;
  readonly code: ErrorCode;

  constructor(
    message: string,
    { exitCode = exitCodes.error, cause, code = codeOf(cause) }: CommandErrorOptions = {},
  ) {
    super(message, cause === undefined ? {} : { cause });
    this.exitCode = exitCode;
    this.code = code;
  }
}

/** Reports an invalid argument, option or setting. */
export function usageError(message: string, options?: { cause?: unknown }): CommandError {
  const { code } = errorCatalogue.invalidInput;
  return new CommandError(message, { exitCode: exitCodes.usage, code, ...options });
}

/** Reports that there is no plant with this id. */
export function plantUnknown(id: bigint): CommandError {
  const { code } = errorCatalogue.plantUnknown;
  return new CommandError(`no plant has the id ${id}: plant-store list shows the ids`, { code });
}

/** Formats an error for stderr as one line. `--verbose` adds the causes and the stack traces. */
export function explain(error: unknown, { verbose }: { verbose: boolean }): string {
  const line = `plant-store: ${messageOf(error)}\n`;
  if (verbose) return `${line}${causes(error)}`;
  const hasMore = !isExplained(error) || error.cause !== undefined;
  return hasMore ? `${line.trimEnd()} (--verbose shows the cause)\n` : line;
}

/** Formats an error for `--json` as one line, in the format of the server's errors. */
export function toJson(error: unknown): string {
  return `${formatJson({ error: codeOf(error), message: messageOf(error) })}\n`;
}

/** Returns the message of an error as one line. */
export function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const lines = message.split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '').join('; ');
}

/**
 * Returns the code that an error has in the catalogue. For an unknown error, returns 50000, the code for a
 * bug.
 */
function codeOf(error: unknown): ErrorCode {
  if (error instanceof CommandError) return error.code;
  if (!(error instanceof Error)) return errorCatalogue.internal.code;
  if (databaseErrors.includes(error.name)) return errorCatalogue.databaseUnavailable.code;
  const isOfStore = error.name === 'PlantStoreError' && 'code' in error;
  // The cast is safe, because a PlantStoreError has only codes of the catalogue.
  return isOfStore ? (error.code as ErrorCode) : errorCatalogue.internal.code;
}

/**
 * The names of core's errors that need no stack trace. The program compares only names, because an import of
 * the error classes would load core.
 */
const databaseErrors = ['DatabaseSettingsError', 'DataDirectoryError'];

/** Whether an error has a message that explains the error, so that the user needs no stack trace. */
function isExplained(error: unknown): error is Error {
  return (
    error instanceof CommandError || (error instanceof Error && databaseErrors.includes(error.name))
  );
}

function causes(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const stack = error instanceof CommandError ? '' : `${error.stack}\n`;
  return error.cause === undefined ? stack : `${stack}${causes(error.cause) || error.cause}`;
}
