/** The message of the innermost cause: libraries wrap the database's own error. */
export function rootMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return rootMessage(error.cause);
  return error.message || ('code' in error ? String(error.code) : error.name);
}
