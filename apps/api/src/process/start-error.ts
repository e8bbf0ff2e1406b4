/** Why the server does not start: what is wrong, and what to do about it. */
export class StartFailure extends Error {
  override readonly name = 'StartFailure';
}

/** Makes the error of a step of the start into one that says which step it was and what to do. */
export function failedTo(step: string, remedy: string): (cause: unknown) => never {
  return (cause) => {
    throw new StartFailure(`cannot ${step} (${rootMessage(cause)}): ${remedy}`, { cause });
  };
}

/** The message of the error under what libraries wrap around it. */
export function rootMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return rootMessage(error.cause);
  return error.message || ('code' in error ? String(error.code) : error.name);
}

/** The lines that a failed start prints. */
export function explainStartFailure(error: unknown): string {
  const problems = error instanceof Error ? error.message.split('\n') : [String(error)];
  return ['The plant store did not start.', ...problems].join('\n  ');
}
