import { PlantStoreError } from '@plant-store/core';

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

/** The error for a query that does not fit its operation; core's, because it may pass a procedure. */
export function invalidQuery(why: string, cause?: unknown): PlantStoreError {
  return new PlantStoreError('invalidInput', `invalid input: ${why}`, { cause });
}
