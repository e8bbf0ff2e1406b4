import {
  databaseUnavailable,
  hasInvalidText,
  isStatementError,
} from '../database/database-error.ts';
import { databaseCode } from '../error-causes.ts';
import { PlantStoreError } from '../plant-store-error.ts';

/** The error for a create without a response of the database: the plant may or may not be stored. */
export function outcomeUnknown(cause?: unknown): PlantStoreError {
  return databaseUnavailable(cause, 'the plant may still be stored, send it again');
}

/**
 * The error for a create whose INSERT ended with an error. Nothing is stored when the database has
 * rolled the statement back; after any other error the plant may or may not be stored.
 */
export function insertError(cause: unknown): PlantStoreError {
  if (!isRolledBack(cause)) return outcomeUnknown(cause);
  const message = `the database cannot store the plant now (SQLSTATE ${databaseCode(cause)}): nothing was written, send it again later`;
  return new PlantStoreError('databaseUnavailable', message, { cause });
}

/**
 * Whether an error means that its statement was rolled back. Severity ERROR does (PostgreSQL's manual,
 * "Error and Notice Message Fields"), because after the commit a server only warns.
 *
 * A Citus coordinator is an exception. When a statement is cancelled or a worker's connection is
 * lost, it reports an ERROR although the worker may have committed the row.
 */
function isRolledBack(error: unknown): boolean {
  return isStatementError(error) && !/^(08|40003|57|XX)/.test(databaseCode(error) ?? '');
}

/**
 * The error for a plant that the database rejected. Only a text that the encoding of the database cannot
 * hold is an error of the client. A constraint, a trigger or a column's type rejects a plant only when
 * somebody has changed the table. Then a retry helps after the operator has corrected the table.
 */
export function plantRejected(cause: unknown): PlantStoreError {
  const code = databaseCode(cause);
  if (hasInvalidText(cause)) {
    const message = `invalid input: the database cannot hold this plant (SQLSTATE ${code})`;
    return new PlantStoreError('invalidInput', message, { cause });
  }
  const message = `the table does not allow this plant (SQLSTATE ${code}): ${notAgain}`;
  return new PlantStoreError('plantRejected', message, { cause });
}

/** The error for a plant that is not in the table after each attempt, because a trigger drops it. */
export function plantNotKept(): PlantStoreError {
  return new PlantStoreError('plantRejected', `the table does not keep this plant: ${notAgain}`);
}

const notAgain = 'nothing was written, tell the operator before you send it again';

/** The error for a create that the store did not accept, so that nothing was written. */
export function notAccepted(kind: 'overloaded' | 'shuttingDown', why: string): PlantStoreError {
  return new PlantStoreError(kind, `${why}: nothing was written, send the plant again later`);
}
