import { databaseCode, databaseRoutine, rootMessage } from '../error-causes.ts';
import { PlantStoreError } from '../plant-store-error.ts';

/**
 * Whether the database rejected a row of a statement, whose other rows may be valid: "data exception" (class
 * 22), "integrity constraint violation" (23), an exception of a trigger (P0), or a policy.
 */
export function isDataError(error: unknown): boolean {
  const isOfRow = /^(2[23]|P0)/.test(databaseCode(error) ?? '') || isPolicyError(error);
  return isOfRow && !isLateWrite(error) && !(error instanceof NotSentError); // A session may be rejected so.
}

/**
 * Whether row-level security or a rule prevented a statement. Other errors have the same SQLSTATEs, such as
 * that of a missing privilege, and the language of the message is a setting of the server.
 */
export function isPolicyError(error: unknown): boolean {
  return policyRoutines.includes(databaseRoutine(error) ?? '');
}

/** The functions of Postgres that raise the errors of row-level security, and of rules. */
const policyRoutines = ['check_enable_rls', 'ExecWithCheckOptions', 'RewriteQuery'];

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

/** The error of a statement that was not sent, because the store got no connection for it. */
export class NotSentError extends Error {
  override readonly name = 'NotSentError';
}

/**
 * Whether an error means that its statement was rolled back. Severity ERROR does (PostgreSQL's manual,
 * "Error and Notice Message Fields"), because after the commit a server only warns.
 *
 * The coordinator of a cluster is an exception. When a statement is cancelled or a worker's connection is
 * lost, it reports an ERROR although the worker may have committed the row.
 */
function isRolledBack(error: unknown): boolean {
  return isStatementError(error) && !/^(08|40003|57|XX)/.test(databaseCode(error) ?? '');
}

/**
 * The error for a call that the database did not do, or may not have done. Its message says what is known.
 *
 * @param ifDone what to do when the database may have done the call
 * @param ifNotDone what to do when the database has changed nothing
 */
export function databaseUnavailable(
  cause?: unknown,
  ifDone = 'try again',
  ifNotDone = 'try again later',
): PlantStoreError {
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
 * @throws PlantStoreError `databaseUnavailable` when the query fails, or `plantRejected` when the table does
 *   not allow it; the store's own errors unchanged
 */
export async function orUnavailable<T>(query: PromiseLike<T>, ...advice: Advice): Promise<T> {
  try {
    return await query;
  } catch (error) {
    throw toStoreError(error, ...advice);
  }
}

type Advice = [ifDone?: string, ifNotDone?: string];

/** The error for a call whose query failed. */
export function toStoreError(cause: unknown, ...advice: Advice): PlantStoreError {
  if (cause instanceof PlantStoreError) return cause;
  if (!isPolicyError(cause)) return databaseUnavailable(cause, ...advice);
  const message =
    `row-level security or a rule in the database prevents this (SQLSTATE ${databaseCode(cause)}): nothing was ` +
    'written, tell the operator before you send it again';
  return new PlantStoreError('plantRejected', message, { cause });
}
