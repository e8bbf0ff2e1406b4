import { HttpError } from '../errors/http-error.ts';

/** Throws when a parameter of the query is not percent-encoded UTF-8. Fastify leaves it as it is. */
export function checkEncoding(url: string): void {
  const start = url.indexOf('?');
  if (start < 0) return;
  for (const parameter of url.slice(start + 1).split('&')) {
    try {
      decodeURIComponent(parameter);
    } catch (cause) {
      throw invalidQuery(`${parameter.split('=')[0]} is not percent-encoded UTF-8`, cause);
    }
  }
}

/** The error for a query that does not fit its operation. */
export function invalidQuery(why: string, cause?: unknown): HttpError {
  return new HttpError('invalidInput', `invalid input: ${why}`, { cause });
}
