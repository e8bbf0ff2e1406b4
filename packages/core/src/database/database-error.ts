import { databaseCode } from '../error-causes.ts';
import { PlantStoreError } from '../plant-store-error.ts';

/** Whether the database rejected a value of a statement; the statement's other rows may be valid. */
export function isDataError(error: unknown): boolean {
  // Class 22 is "data exception", class 23 "integrity constraint violation".
  return /^2[23]/.test(databaseCode(error) ?? '');
}

/** The database could not be reached, did not answer in time or cancelled the statement. */
export function databaseUnavailable(cause?: unknown, advice = 'try again'): PlantStoreError {
  return new PlantStoreError('databaseUnavailable', `the database did not answer: ${advice}`, {
    cause,
  });
}

/**
 * The result of a query.
 *
 * @throws PlantStoreError `databaseUnavailable` when the query fails
 */
export async function orUnavailable<T>(query: PromiseLike<T>): Promise<T> {
  try {
    return await query;
  } catch (error) {
    throw databaseUnavailable(error);
  }
}
