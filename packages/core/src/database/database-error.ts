import { databaseCode, databaseRoutine, rootMessage } from '../error-causes.ts';
import { PlantStoreError } from '../plant-store-error.ts';

/**
 * Whether the database rejected one row of a statement. The other rows of the statement may be valid. The
 * error is a "data exception" (class 22), an "integrity constraint violation" (23), or an error of a trigger
 * (P0) or a policy.
 */
export function isDataError(error: unknown): boolean {
  const isOfRow = /^(2[23]|P0)/.test(databaseCode(error) ?? '') || isPolicyError(error);
  // The server can also reject a new session with one of these SQLSTATEs. That error concerns no row.
  return isOfRow && !isLateWrite(error) && !(reasonOf(error) instanceof NotSentError);
}

/**
 * Whether row-level security or a rule prevented a statement. A missing privilege causes the same SQLSTATE,
 * and the server may translate its messages. So this function checks the routine that raised the error.
 */
export function isPolicyError(error: unknown): boolean {
  return policyRoutines.includes(databaseRoutine(error) ?? '');
}

/** The functions in Postgres's source that raise the errors of row-level security and of rules. */
const policyRoutines = ['check_enable_rls', 'ExecWithCheckOptions', 'RewriteQuery'];

/** Whether an error has the severity ERROR. An error with this severity does not concern the connection. */
export function isStatementError(error: unknown): boolean {
  return error instanceof Error && 'severity' in error && error.severity === 'ERROR';
}

/** The error of the database or the network that is the cause of an error of the store. */
export function reasonOf(error: unknown): unknown {
  return error instanceof PlantStoreError ? (error.cause ?? error) : error;
}

/** Whether the text contains a character that does not exist in the database's encoding. */
export function hasInvalidText(error: unknown): boolean {
  return ['22021', '22P05'].includes(databaseCode(error) ?? '');
}

/** The message of a write that reached the database after its deadline; see `plants/statements.ts`. */
export const lateWrite = 'the deadline of this write has passed';

/** The error for a write whose deadline has passed before the store sends the write. */
export function lateWriteError(): Error {
  return Object.assign(new Error(lateWrite), { code: '22P02', severity: 'ERROR' });
}

/** Whether a write changed nothing because it reached the database too late. */
export function isLateWrite(error: unknown): boolean {
  return databaseCode(error) === '22P02' && rootMessage(error).includes(lateWrite);
}

/** Whether the database cancelled a statement after a cancel request or at a time limit. */
export function isCancelled(error: unknown): boolean {
  return databaseCode(error) === '57014';
}

/** The SQLSTATE of a warning. */
const warning = '01000';

/** The error for a commit whose wait for the standby was cancelled. A failover may lose the commit. */
export function unconfirmedCommit(): Error {
  const message = 'the database warned that the commit may be lost';
  return Object.assign(new Error(message), { code: warning });
}

export function isUnconfirmedCommit(error: unknown): boolean {
  return databaseCode(error) === warning;
}

/** The error of a statement that was never sent, because no connection was free. */
export class NotSentError extends Error {
  override readonly name = 'NotSentError';
}

/**
 * Whether an error shows that its statement was rolled back. After a commit, the server sends only warnings.
 * So an error with the severity ERROR shows a rollback (PostgreSQL's manual, "Error and Notice Message
 * Fields").
 */
function isRolledBack(error: unknown): boolean {
  return isStatementError(error) && !/^(08|40003|57|XX)/.test(databaseCode(error) ?? '');
}

/** The error for a call that the database has not executed, or has perhaps not executed. */
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
 * @throws PlantStoreError `databaseUnavailable` when the query fails, or `plantRejected` when row-level
 *   security or a rule prevents the query.
 * @throws the PlantStoreError that the query itself throws.
 */
export async function orUnavailable<T>(query: PromiseLike<T>, advice?: Advice): Promise<T> {
  try {
    return await query;
  } catch (error) {
    throw toStoreError(error, advice);
  }
}

/** The advice when the database may have executed the call, and the advice when nothing has changed. */
export type Advice = readonly [ifDone?: string, ifNotDone?: string];

/** The error for a call whose query failed. */
export function toStoreError(cause: unknown, advice?: Advice): PlantStoreError {
  if (cause instanceof PlantStoreError) return cause;
  // Drizzle wraps each error of a statement in another error.
  if (cause instanceof Error && cause.cause instanceof PlantStoreError) return cause.cause;
  if (!isPolicyError(cause)) return databaseUnavailable(cause, advice);
  const message =
    `row-level security or a rule in the database prevents this (SQLSTATE ${databaseCode(cause)}): nothing was ` +
    'written, tell the operator before you send it again';
  return new PlantStoreError('plantRejected', message, { cause });
}

/** The error for a text of the client that the encoding of the database cannot represent. */
export function invalidText(what: 'plant' | 'text', cause: unknown): PlantStoreError {
  const message = `invalid input: the database cannot hold this ${what} (SQLSTATE ${databaseCode(cause)})`;
  return new PlantStoreError('invalidInput', message, { cause });
}
