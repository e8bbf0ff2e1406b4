/** Returns the message of the innermost cause. Libraries wrap the database's error in their own errors. */
export function rootMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return rootMessage(error.cause);
  // Node leaves the message empty when it cannot connect to any of several addresses of one host.
  return error.message || ('code' in error ? String(error.code) : error.name);
}

/**
 * Returns the code of an error. If the error has no code, returns the code of the first cause that has a
 * code. A code is a SQLSTATE of the database, such as `22P05`, or the code of a network error, such as
 * `ECONNREFUSED`.
 */
export function databaseCode(error: unknown): string | undefined {
  return firstText(error, 'code');
}

/** The function in the source of Postgres that raised the error, or that raised a cause of the error. */
export function databaseRoutine(error: unknown): string | undefined {
  return firstText(error, 'routine');
}

function firstText(error: unknown, property: string): string | undefined {
  for (let current = error; current instanceof Error; current = current.cause) {
    const value: unknown = Reflect.get(current, property);
    if (typeof value === 'string') return value;
  }
  return undefined;
}
