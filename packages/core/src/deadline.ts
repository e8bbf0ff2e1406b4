import { databaseUnavailable } from './database-error.ts';

/** Milliseconds in which everything that asks the database is answered. */
export const deadline = 5_000;

/**
 * What a query resolves with, unless that takes too long: postgres.js has no time-out of its own for
 * a query, and waits on a server that has gone silent.
 *
 * @throws PlantStoreError `databaseUnavailable` when the query fails or takes too long.
 */
export async function answerInTime<T>(query: PromiseLike<T>, within = deadline): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no answer within ${within} ms`)), within);
  try {
    return await Promise.race([query, late.promise]);
  } catch (error) {
    throw databaseUnavailable(error);
  } finally {
    clearTimeout(timer);
  }
}
