import { databaseUnavailable } from './database-error.ts';

/** Milliseconds in which everything that asks the database is answered. */
export const deadline = 5_000;

/**
 * What a query resolves with, unless that takes too long: postgres.js waits for ever on a host that
 * has died (https://github.com/porsager/postgres/issues/1130).
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
