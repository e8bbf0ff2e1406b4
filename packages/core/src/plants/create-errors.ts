import { databaseUnavailable } from '../database/database-error.ts';
import { databaseCode } from '../error-causes.ts';
import { PlantStoreError } from '../plant-store-error.ts';

/** The error for a create that the database did not answer: the plant may or may not be stored. */
export function outcomeUnknown(cause?: unknown): PlantStoreError {
  return databaseUnavailable(cause, 'the plant may or may not be stored, send it again');
}

/** The error for a plant that the database rejected: a text or a constraint did not allow it. */
export function plantRejected(cause: unknown): PlantStoreError {
  return new PlantStoreError(
    'invalidInput',
    `invalid input: the database cannot hold this plant (SQLSTATE ${databaseCode(cause)})`,
    { cause },
  );
}

/** The error for a create that the store did not accept, so that nothing was written. */
export function notAccepted(kind: 'overloaded' | 'shuttingDown', why: string): PlantStoreError {
  return new PlantStoreError(kind, `${why}: nothing was written, send the plant again later`);
}
