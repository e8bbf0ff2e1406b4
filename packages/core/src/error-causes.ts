/** The message of the innermost cause of an error: libraries wrap the database's own message. */
export function rootMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return rootMessage(error.cause);
  // Node leaves the message empty when several addresses of one host refuse the connection.
  return error.message || ('code' in error ? String(error.code) : error.name);
}

/**
 * The error code that the database (a SQLSTATE such as `22P05`) or the connection to it
 * (`ECONNREFUSED`) gave to an error or one of its causes.
 */
export function databaseCode(error: unknown): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('code' in at && typeof at.code === 'string') return at.code;
  }
  return undefined;
}
