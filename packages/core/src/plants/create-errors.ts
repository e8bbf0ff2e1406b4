import { databaseUnavailable } from '../database/database-error.ts';
import { databaseCode } from '../error-causes.ts';
import { PlantStoreError } from '../plant-store-error.ts';

/** The database did not answer a create, so nobody knows whether the plant is stored. */
export function createUnanswered(cause?: unknown): PlantStoreError {
  return databaseUnavailable(cause, 'the plant may or may not be stored, send it again');
}

/** The database rejected this plant: it cannot hold the text, or has a constraint of its own. */
export function plantRejected(cause: unknown): PlantStoreError {
  return new PlantStoreError(
    'invalidInput',
    `invalid input: the database cannot hold this plant (SQLSTATE ${databaseCode(cause)})`,
    { cause },
  );
}

/** The store takes no more creates; this one was not written. */
export function createNotStarted(
  kind: 'overloaded' | 'shuttingDown',
  why: string,
): PlantStoreError {
  return new PlantStoreError(kind, `${why}: nothing was written, send the plant again later`);
}
