import { orUnavailable } from './database-error.ts';

/** Milliseconds in which the database answers a statement of a request. */
export const queryTimeout = 5_000;

/**
 * The result of a query.
 *
 * @throws PlantStoreError `databaseUnavailable` when the query fails or takes longer than `timeout`,
 *   in milliseconds
 */
export function queryWithTimeout<T>(query: PromiseLike<T>, timeout = queryTimeout): Promise<T> {
  return orUnavailable(withTimeout(query, timeout));
}

/**
 * The value of a promise.
 *
 * @throws Error when the promise takes longer than `timeout` milliseconds; otherwise whatever the
 *   promise is rejected with
 */
export async function withTimeout<T>(promise: PromiseLike<T>, timeout: number): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no answer within ${timeout} ms`)), timeout);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
