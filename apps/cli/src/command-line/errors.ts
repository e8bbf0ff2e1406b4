/** What a script can tell from how the program ends. */
export const exitCodes = {
  /** Something did not work: the database, a file, or there is no such plant. */
  failed: 1,
  /** The command or a setting is not valid; nothing was tried. */
  usage: 2,
  /** The import is through, but rows of it were rejected or are in conflict with the store. */
  incomplete: 3,
} as const;

/** Why a command ends without what was asked of it: one line that says what to do. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
  readonly exitCode: number;

  constructor(
    message: string,
    { exitCode = exitCodes.failed, ...options }: { exitCode?: number; cause?: unknown } = {},
  ) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** A failure for what was typed. */
export function usageFailure(message: string): CommandFailure {
  return new CommandFailure(message, { exitCode: exitCodes.usage });
}

/** The message of the error under what libraries wrap around it. */
export function rootMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return rootMessage(error.cause);
  return error.message || ('code' in error ? String(error.code) : error.name);
}

/** The line for stderr, and under `--verbose` what is behind it. */
export function explain(error: unknown, { verbose }: { verbose: boolean }): string {
  const message = error instanceof Error ? error.message : String(error);
  const line = `plant-store: ${message.replaceAll(/\s*\n\s*/g, '; ')}\n`;
  if (verbose) return `${line}${causes(error)}`;
  const hasMore = !(error instanceof CommandFailure) || error.cause !== undefined;
  return hasMore ? `${line.trimEnd()} (--verbose shows the cause)\n` : line;
}

function causes(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const stack = error instanceof CommandFailure ? '' : `${error.stack}\n`;
  return error.cause === undefined ? stack : `${stack}${causes(error.cause) || error.cause}`;
}
