/** The message of the innermost cause of an error, because libraries wrap the database's message. */
export function rootMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return rootMessage(error.cause);
  // Node leaves the message empty when several addresses of one host refuse the connection.
  return error.message || ('code' in error ? String(error.code) : error.name);
}

/**
 * The code of an error, or of the first of its causes that has one: a SQLSTATE of the database such
 * as `22P05`, or a network error such as `ECONNREFUSED`.
 */
export function databaseCode(error: unknown): string | undefined {
  return firstText(error, 'code');
}

/** The function of Postgres that raised an error, or the first of its causes that has one. */
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
