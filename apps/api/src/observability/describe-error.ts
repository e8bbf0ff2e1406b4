/**
 * Describes an error for the log, without its stack and without the SQL and values of Drizzle's
 * message.
 */
export function describeError(error: Error): Record<string, unknown> {
  const source = error.cause instanceof Error && 'query' in error ? error.cause : error;
  return {
    type: source.name,
    message: source.message,
    ...('code' in source && { code: source.code }),
    at: placeOf(source),
    ...(source.cause instanceof Error && { cause: describeError(source.cause) }),
  };
}

/** The place in the code that threw the error, such as `write-batcher.ts:97`. */
function placeOf({ stack = '' }: Error): string | undefined {
  return /([\w.-]+\.[cm]?[jt]s:\d+):\d+\)?$/m.exec(stack)?.[1];
}
