import { databaseUnavailable } from './database-error.ts';

/** Milliseconds in which everything that asks the database is answered. */
export const deadline = 5_000;

/**
 * What a query resolves with, unless that takes too long.
 *
 * @throws PlantStoreError `databaseUnavailable` when the query fails or takes too long.
 */
export async function answerInTime<T>(query: PromiseLike<T>, within = deadline): Promise<T> {
  try {
    return await inTime(query, within);
  } catch (error) {
    throw databaseUnavailable(error);
  }
}

/** The same, but what the query fails with is thrown as it is, and when it takes too long an Error. */
export async function inTime<T>(query: PromiseLike<T>, within: number): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no answer within ${within} ms`)), within);
  try {
    return await Promise.race([query, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
