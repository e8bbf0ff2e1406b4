import { databaseCode } from '../error-causes.ts';
import { PlantStoreError } from '../plant-store-error.ts';

/** Whether the database rejected a value in a statement. The statement's other rows may be valid. */
export function isDataError(error: unknown): boolean {
  return hasInvalidText(error) || violatesConstraint(error);
}

/** Whether the database rejected a value whatever its table is (class 22, "data exception"). */
export function hasInvalidText(error: unknown): boolean {
  return /^22/.test(databaseCode(error) ?? '');
}

/** Whether the table does not allow a row (class 23, "integrity constraint violation"). */
function violatesConstraint(error: unknown): boolean {
  return /^23/.test(databaseCode(error) ?? '');
}

/** The error for a database that was unreachable, did not answer in time or cancelled the statement. */
export function databaseUnavailable(cause?: unknown, advice = 'try again'): PlantStoreError {
  return new PlantStoreError('databaseUnavailable', `the database did not answer: ${advice}`, {
    cause,
  });
}

/**
 * Waits for a query and returns its result.
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
