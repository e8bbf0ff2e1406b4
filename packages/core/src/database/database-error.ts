import { databaseCode, databaseRoutine, rootMessage } from '../error-causes.ts';
import { PlantStoreError } from '../plant-store-error.ts';

/**
 * Whether the database rejected one row of a statement. The other rows may be valid. The error is a "data
 * exception" (class 22), an "integrity constraint violation" (23), an exception of a trigger (P0), or the
 * error of a policy.
 */
export function isDataError(error: unknown): boolean {
  const isOfRow = /^(2[23]|P0)/.test(databaseCode(error) ?? '') || isPolicyError(error);
  // The server can reject a new session with one of these SQLSTATEs as well.
  return isOfRow && !isLateWrite(error) && !(reasonOf(error) instanceof NotSentError);
}

/**
 * Whether row-level security or a rule prevented a statement. Other errors, such as a missing privilege, have
 * the same SQLSTATEs. The server may translate its messages, so this function checks the routine.
 */
export function isPolicyError(error: unknown): boolean {
  return policyRoutines.includes(databaseRoutine(error) ?? '');
}

/** The functions of Postgres that raise the errors of row-level security and of rules. */
const policyRoutines = ['check_enable_rls', 'ExecWithCheckOptions', 'RewriteQuery'];

/** Whether an error has the severity ERROR. Such an error concerns only its statement, not the connection. */
export function isStatementError(error: unknown): boolean {
  return error instanceof Error && 'severity' in error && error.severity === 'ERROR';
}

/** The error of the database or the network that is the cause of the store's own error. */
export function reasonOf(error: unknown): unknown {
  return error instanceof PlantStoreError ? (error.cause ?? error) : error;
}

/** Whether the encoding of the database lacks a character of a text. */
export function hasInvalidText(error: unknown): boolean {
  return ['22021', '22P05'].includes(databaseCode(error) ?? '');
}

/** The message of a write that reached the database after its deadline; see `plants/statements.ts`. */
export const lateWrite = 'the deadline of this write has passed';

/** The same error, for a write that the store does not send. */
export function lateWriteError(): Error {
  return Object.assign(new Error(lateWrite), { code: '22P02', severity: 'ERROR' });
}

/** Whether a write changed nothing because it reached the database after its deadline. */
export function isLateWrite(error: unknown): boolean {
  return databaseCode(error) === '22P02' && rootMessage(error).includes(lateWrite);
}

/**
 * Whether the database has cancelled a statement, because somebody asked for that or a time limit had passed.
 */
export function isCancelled(error: unknown): boolean {
  return databaseCode(error) === '57014';
}

/** The SQLSTATE of a warning. */
const warning = '01000';

/** The error for a commit whose wait for the standby was cancelled. A failover may lose this commit. */
export function unconfirmedCommit(): Error {
  const message = 'the database warned that the commit may be lost';
  return Object.assign(new Error(message), { code: warning });
}

export function isUnconfirmedCommit(error: unknown): boolean {
  return databaseCode(error) === warning;
}

/** The error of a statement that was not sent, because the store got no connection for it. */
export class NotSentError extends Error {
  override readonly name = 'NotSentError';
}

/**
 * Whether an error means that its statement was rolled back. Severity ERROR means that (PostgreSQL's manual,
 * "Error and Notice Message Fields"), because after a commit the server sends only warnings.
 *
 * The coordinator of a cluster is an exception. When a statement is cancelled or a worker's connection is
 * lost, the coordinator reports an ERROR although the worker may have committed the row.
 */
function isRolledBack(error: unknown): boolean {
  return isStatementError(error) && !/^(08|40003|57|XX)/.test(databaseCode(error) ?? '');
}

/**
 * The error for a call that the database did not execute, or may not have executed. The message says which.
 */
export function databaseUnavailable(
  error?: unknown,
  [ifDone = 'try again', ifNotDone = 'try again later']: Advice = [],
): PlantStoreError {
  const cause = reasonOf(error);
  const message =
    cause instanceof NotSentError
      ? `the store has no connection to the database: ${ifNotDone}`
      : isRolledBack(cause)
        ? `the database cannot do this now (SQLSTATE ${databaseCode(cause)}): ${ifNotDone}`
        : `the database did not respond: ${ifDone}`;
  return new PlantStoreError('databaseUnavailable', message, { cause });
}

/**
 * Waits for a query and returns its result.
 *
 * @throws PlantStoreError `databaseUnavailable` when the query fails, `plantRejected` when the table does not
 *   allow it, or the PlantStoreError that the query itself throws
 */
export async function orUnavailable<T>(query: PromiseLike<T>, advice?: Advice): Promise<T> {
  try {
    return await query;
  } catch (error) {
    throw toStoreError(error, advice);
  }
}

/** The advice when the database may have executed a call, and when it has changed nothing. */
export type Advice = readonly [ifDone?: string, ifNotDone?: string];

/** The error for a call whose query failed. */
export function toStoreError(cause: unknown, advice?: Advice): PlantStoreError {
  if (cause instanceof PlantStoreError) return cause;
  if (!isPolicyError(cause)) return databaseUnavailable(cause, advice);
  const message =
    `row-level security or a rule in the database prevents this (SQLSTATE ${databaseCode(cause)}): nothing was ` +
    'written, tell the operator before you send it again';
  return new PlantStoreError('plantRejected', message, { cause });
}
