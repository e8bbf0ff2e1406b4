import { plantStoreError } from '@plant-store/client';
import { errorCatalogue } from '@plant-store/schemas';

/** An error for the user: one line that says what is wrong and what to do. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: number;
  /** The error code in the catalogue. */
  readonly code: number;

  constructor(message: string, options: { exitCode?: number; code?: number | undefined } = {}) {
    super(message);
    this.exitCode = options.exitCode ?? 1;
    this.code = options.code ?? errorCatalogue.internal.code;
  }
}

/** Makes the error for an argument, a setting or a file that is not valid. */
export function usageError(message: string): CommandError {
  return new CommandError(message, { exitCode: 2, code: errorCatalogue.invalidInput.code });
}

/** Writes an error to standard error, as text or as JSON. Returns the exit code. */
export function reportError(error: unknown, isJson: boolean): number {
  const { exitCode, code, message } = explain(error);
  const line = message.trim().replaceAll(/\n\s*/g, '; ');
  process.stderr.write(
    isJson ? `${JSON.stringify({ error: code, message: line })}\n` : `plant-store: ${line}\n`,
  );
  return exitCode;
}

/** Turns any error into a `CommandError`. The message of an unexpected error contains the stack. */
export function explain(error: unknown): CommandError {
  if (error instanceof CommandError) return error;
  const { code = errorCatalogue.databaseUnavailable.code, message } = plantStoreError(error) ?? {};
  if (message !== undefined) return new CommandError(message, { code });
  if (error instanceof Error && 'syscall' in error) return new CommandError(error.message);
  return new CommandError(String(error instanceof Error ? error.stack : error));
}
