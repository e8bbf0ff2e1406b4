/** Makes a function that throws an error. The message names the step of the start that did not work. */
export function throwStartError(step: string, remedy: string): (cause: unknown) => never {
  return (cause) => {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`cannot ${step} (${why}): ${remedy}`, { cause });
  };
}

export function explainStartError(error: unknown): string {
  const lines = error instanceof Error ? error.message.split('\n') : [String(error)];
  return ['The plant store did not start.', ...lines].join('\n  ');
}
