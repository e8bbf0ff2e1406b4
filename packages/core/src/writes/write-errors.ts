import {
  type Advice,
  databaseUnavailable,
  hasInvalidText,
  invalidText,
  reasonOf,
} from '../database/errors.ts';
import { databaseCode } from '../error-causes.ts';
import { PlantStoreError } from '../plant-store-error.ts';

/** The error for a create when it is unknown whether the plant was stored. */
export function outcomeUnknown(error?: unknown): PlantStoreError {
  const message = `the database did not respond: ${mayBeStored}`;
  return new PlantStoreError('databaseUnavailable', message, { cause: reasonOf(error) });
}

/** The error for a create whose INSERT ended with an error. */
export function insertError(cause: unknown): PlantStoreError {
  return databaseUnavailable(cause, [mayBeStored, 'nothing was written, send it again later']);
}

const mayBeStored = 'the plant may still be stored, send it again';

/**
 * The error for a plant that the database has rejected. The client is responsible only for text that the
 * database's encoding cannot represent. A constraint, a trigger or a column's type rejects plants only when
 * somebody has changed the table. After the operator has corrected the table, a retry succeeds.
 */
export function plantRejected(error: unknown): PlantStoreError {
  const cause = reasonOf(error);
  const code = databaseCode(cause);
  if (hasInvalidText(cause)) return invalidText('plant', cause);
  const message = `the table does not allow this plant (SQLSTATE ${code}): ${notAgain}`;
  return new PlantStoreError('plantRejected', message, { cause });
}

/** The error for a plant that a trigger removes after each create. */
export function plantNotKept(): PlantStoreError {
  return new PlantStoreError('plantRejected', `the table does not keep this plant: ${notAgain}`);
}

/** The error for a plant for which a trigger prevents each delete. */
export function plantKept(): PlantStoreError {
  return new PlantStoreError('plantRejected', `the table keeps this plant: ${notAgain}`);
}

export const deleteAdvice: Advice = [
  'the plant may or may not be deleted, look it up before you send the delete again',
  'nothing was deleted, send it again later',
];

export const replaceAdvice: Advice = [
  'the plant may or may not be replaced, read it before you send the replacement again',
  'nothing was written, send it again later',
];

const notAgain = 'nothing was written, tell the operator before you send it again';

/** The error for a create that the store did not accept. Nothing was written for the create. */
export function notAccepted(kind: 'overloaded' | 'shuttingDown', why: string): PlantStoreError {
  return new PlantStoreError(kind, `${why}: nothing was written, send the plant again later`);
}
