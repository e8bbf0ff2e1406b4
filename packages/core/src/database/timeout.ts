import { orUnavailable } from './database-error.ts';

/** Milliseconds within which the database must answer a statement of a request. */
export const queryTimeout = 5_000;

/** Milliseconds for a statement about many plants. */
export const bulkTimeout = 10 * 60_000;

/**
 * Waits for a query and returns its result.
 *
 * @throws PlantStoreError `databaseUnavailable` when the query fails or takes longer than `timeout`,
 *   in milliseconds
 */
export function queryWithTimeout<T>(query: PromiseLike<T>, timeout = queryTimeout): Promise<T> {
  return orUnavailable(withTimeout(query, timeout));
}

/**
 * Waits for a promise and returns its value.
 *
 * @throws Error when the promise takes longer than `timeout` milliseconds; otherwise the error that
 *   the promise is rejected with
 */
export async function withTimeout<T>(promise: PromiseLike<T>, timeout: number): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Error(`no answer within ${Math.round(timeout)} ms`)),
    timeout,
  );
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
