/** The message of the innermost cause of an error, because libraries wrap the database's message. */
export function rootMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return rootMessage(error.cause);
  // Node leaves the message empty when several addresses of one host refuse the connection.
  return error.message || ('code' in error ? String(error.code) : error.name);
}

/**
 * The code of an error. When the error has no code, the code of its first cause that has one. A code is a
 * SQLSTATE of the database such as `22P05`, or a network error such as `ECONNREFUSED`.
 */
export function databaseCode(error: unknown): string | undefined {
  return firstText(error, 'code');
}

/** The function of Postgres that raised an error, or that raised one of its causes. */
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
