/** The program's exit codes; scripts rely on them. */
export const exitCodes = {
  /** The command could not do its work: the database did not answer, or there is no such plant. */
  error: 1,
  /** An argument, an option or a setting is invalid; the command did not start. */
  usage: 2,
  /** The import has read the whole file, but some of its rows are not stored. */
  incomplete: 3,
} as const;

/** The reason why a command cannot do its work: one line that also says what to do. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: number;

  constructor(
    message: string,
    { exitCode = exitCodes.error, ...options }: { exitCode?: number; cause?: unknown } = {},
  ) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** Reports an invalid argument, option or setting. */
export function usageError(message: string, options?: { cause?: unknown }): CommandError {
  return new CommandError(message, { exitCode: exitCodes.usage, ...options });
}

/** Reports that there is no plant with this id. */
export function plantUnknown(id: bigint): CommandError {
  return new CommandError(`no plant has the id ${id}: plant-store list shows the ids`);
}

/** Formats an error for stderr: one line, and with `--verbose` its causes and stack traces. */
export function explain(error: unknown, { verbose }: { verbose: boolean }): string {
  const message = error instanceof Error ? error.message : String(error);
  const line = `plant-store: ${message.replaceAll(/\s*\n\s*/g, '; ')}\n`;
  if (verbose) return `${line}${causes(error)}`;
  const hasMore = !(error instanceof CommandError) || error.cause !== undefined;
  return hasMore ? `${line.trimEnd()} (--verbose shows the cause)\n` : line;
}

function causes(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const stack = error instanceof CommandError ? '' : `${error.stack}\n`;
  return error.cause === undefined ? stack : `${stack}${causes(error.cause) || error.cause}`;
}
