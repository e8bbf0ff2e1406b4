import { databaseCode, rootMessage } from '../error-causes.ts';
import { PlantStoreError } from '../plant-store-error.ts';

/**
 * Whether the database rejected a value in a statement: "data exception" (class 22) or "integrity
 * constraint violation" (class 23). The statement's other rows may be valid.
 */
export function isDataError(error: unknown): boolean {
  return /^2[23]/.test(databaseCode(error) ?? '') && !isLateWrite(error);
}

/** Whether an error has the severity ERROR, and so concerns only its statement and not the connection. */
export function isStatementError(error: unknown): boolean {
  return error instanceof Error && 'severity' in error && error.severity === 'ERROR';
}

/** Whether a text has a character that the encoding of the database lacks. */
export function hasInvalidText(error: unknown): boolean {
  return ['22021', '22P05'].includes(databaseCode(error) ?? '');
}

/** The message of a write that reached the database after its deadline; see `plants/statements.ts`. */
export const lateWrite = 'the deadline of this write has passed';

/** The error of such a write, for a write that the store does not send. */
export function lateWriteError(): Error {
  return Object.assign(new Error(lateWrite), { code: '22P02', severity: 'ERROR' });
}

/** Whether a write changed nothing because it reached the database after its deadline. */
export function isLateWrite(error: unknown): boolean {
  return databaseCode(error) === '22P02' && rootMessage(error).includes(lateWrite);
}

/** Whether the database has cancelled a statement, because of a request or a limit of its time. */
export function isCancelled(error: unknown): boolean {
  return databaseCode(error) === '57014';
}

/** The SQLSTATE of a warning. */
const warning = '01000';

/** The error for a commit whose wait for the standby was cancelled: a failover may lose it. */
export function unconfirmedCommit(): Error {
  const message = 'the database warned that the commit may be lost';
  return Object.assign(new Error(message), { code: warning });
}

export function isUnconfirmedCommit(error: unknown): boolean {
  return databaseCode(error) === warning;
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
 * @throws PlantStoreError `databaseUnavailable` when the query fails; the store's own errors unchanged
 */
export async function orUnavailable<T>(query: PromiseLike<T>): Promise<T> {
  try {
    return await query;
  } catch (error) {
    throw toStoreError(error);
  }
}

/** The error for a call whose query failed. */
export function toStoreError(error: unknown): PlantStoreError {
  return error instanceof PlantStoreError ? error : databaseUnavailable(error);
}
