import { type Advice, reasonOf } from '../database/errors.ts';
import { PlantStoreError } from '../plant-store-error.ts';

/** The error for a create when it is unknown whether the plant was stored. */
export function outcomeUnknown(error?: unknown): PlantStoreError {
  const message = `the database did not respond: ${mayBeStored}`;
  return new PlantStoreError('databaseUnavailable', message, { cause: reasonOf(error) });
}

const mayBeStored = 'the plant may still be stored, send it again';

/** The error for a plant that a trigger removes after each create. */
export function plantNotKept(): PlantStoreError {
  return new PlantStoreError('plantRejected', `the table does not keep this plant: ${notAgain}`);
}

/** The error for a plant for which a trigger prevents each delete. */
export function plantKept(): PlantStoreError {
  return new PlantStoreError('plantRejected', `the table keeps this plant: ${notAgain}`);
}

export const createAdvice: Advice = [mayBeStored, 'nothing was written, send it again later'];

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
