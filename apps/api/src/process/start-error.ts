/** The server cannot start; the message says what is wrong and what to do. */
export class StartError extends Error {
  override readonly name = 'StartError';
}

/** Wraps the error of a step of the start: the message says which step it was and what to do. */
export function cannot(step: string, remedy: string): (cause: unknown) => never {
  return (cause) => {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new StartError(`cannot ${step} (${why}): ${remedy}`, { cause });
  };
}

/** The lines that a failed start prints. */
export function explainStartError(error: unknown): string {
  const lines = error instanceof Error ? error.message.split('\n') : [String(error)];
  return ['The plant store did not start.', ...lines].join('\n  ');
}
