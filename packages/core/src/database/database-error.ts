import postgres from 'postgres';
import { PlantStoreError } from '../plant-store-error.ts';

/** Whether the database refused a value in the statement, so that the statement's other rows may be fine. */
export function isDataError(error: unknown): boolean {
  // Class 22 is "data exception", class 23 "integrity constraint violation".
  return /^2[23]/.test(sqlState(error) ?? '');
}

/**
 * Whether the connection that a statement failed on is as good as before: the database itself said
 * so, and went on. From one that has become read-only nothing is to be had but that (25006).
 */
export function leavesConnectionUsable(error: unknown): boolean {
  const isOfStatement = error instanceof postgres.PostgresError && error.severity === 'ERROR';
  return isOfStatement && error.code !== '25006';
}

/** The database refused this plant: it cannot hold the text, or has a constraint of its own. */
export function plantRefused(error: unknown): PlantStoreError {
  return new PlantStoreError(
    'invalidInput',
    `invalid input: the database cannot hold this plant (SQLSTATE ${sqlState(error)})`,
    { cause: error },
  );
}

/** The database could not be reached, did not answer in time or gave up on the statement. */
export function databaseUnavailable(cause?: unknown, then = 'try again'): PlantStoreError {
  const message = `the database did not answer: ${then}`;
  return new PlantStoreError('databaseUnavailable', message, { cause });
}

/** The same for a create whose outcome is unknown. */
export function createUnanswered(cause?: unknown): PlantStoreError {
  return databaseUnavailable(cause, 'the plant may or may not be stored, send it again');
}

/**
 * The error code of the database (a SQLSTATE such as `22P05`) or of the connection to it
 * (`ECONNREFUSED`), from under what Drizzle wraps around it.
 */
export function sqlState(error: unknown): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('code' in at && typeof at.code === 'string') return at.code;
  }
  return undefined;
}
