import { databaseCode, PlantStoreError, rootCause, rootMessage } from '../plant-store-error.ts';

/**
 * What an error of the database or the network means, and what to do:
 *
 * - `row`: one row of the statement is wrong, and the other rows may be valid
 * - `wait`: the statement waited too long, perhaps because of one row
 * - `settings`: only a person can remove the error, so the store does not start
 * - `state`: the error may pass
 */
type Meaning = readonly [kind: 'row' | 'wait' | 'settings' | 'state', advice: string];

const address = 'check the host and the port in DATABASE_URL, and that the database is running';
const policy: Meaning = [
  'row',
  'row-level security or a rule of a table stops the store: run ALTER TABLE … DISABLE ROW LEVEL SECURITY or ' +
    'DROP RULE … ON that table, or let a superuser run ALTER ROLE … BYPASSRLS for the user of the store',
];

/** The meanings by SQLSTATE, by the class of a SQLSTATE, and by the code of a network error. */
const meanings: Readonly<Record<string, Meaning>> = {
  '01000': ['state', 'check the standby: somebody cancelled the wait of a commit for it'],
  '08P01': ['settings', 'add ?pgbouncer=true to its URL if it is a PgBouncer'],
  '22': ['row', 'give the columns name and tag the type text again'],
  '23': ['row', 'drop the constraint of the table, unless you want it'],
  '25006': ['state', 'connect to the primary, or make the database writable'],
  '28000': [
    'settings',
    'check the user in its URL, and pg_hba.conf. If the server asks for TLS, add ?sslmode=verify-full to its ' +
      'URL, or ?sslmode=require, which does not verify the server',
  ],
  '28P01': ['settings', 'check the user and the password in its URL'],
  '3D000': ['settings', 'create that database, or check the name in its URL'],
  '42': ['state', 'undo the changes of the tables and their columns'],
  '42501': ['state', 'grant the privilege that plant-store-server doctor shows'],
  '42704': ['settings', 'remove that setting from its URL'],
  '42P10': [
    'state',
    'create the primary key of plants again: ALTER TABLE plants ADD PRIMARY KEY (id)',
  ],
  '53100': ['state', 'free some room on the disk of the database'],
  '53300': ['state', 'raise max_connections, or run fewer clients'],
  '55P03': ['wait', 'end the session that has the lock, which plant-store-server doctor names'],
  '57014': ['wait', 'look up in pg_stat_activity what the database waits for'],
  '57P03': ['state', 'try again in a moment: the database is starting or stopping'],
  P0: ['row', 'drop the trigger, or correct its function'],
  CITUS_WORKER: ['settings', 'set DATABASE_URL to the address of the coordinator'],
  ENOENT: ['state', address],
  ENOTFOUND: ['settings', 'check the host in its URL'],
};

/** Whether an error comes from row-level security or a rule, which have the SQLSTATE of a missing privilege. */
function isPolicyError(cause: unknown): boolean {
  const routines = ['check_enable_rls', 'ExecWithCheckOptions', 'RewriteQuery'];
  return routines.includes(String(rootCause(cause)?.routine));
}

function meaningOf(error: unknown): Meaning {
  const code = databaseCode(error) ?? '';
  const known = isPolicyError(error) ? policy : (meanings[code] ?? meanings[code.slice(0, 2)]);
  if (known) return known;
  if (/CERT|SIGNATURE/.test(code)) {
    return ['settings', 'check the certificate of the server, and sslrootcert in its URL'];
  }
  if (/secure TLS/.test(rootMessage(error))) {
    return ['state', 'turn on TLS in the server, or remove sslmode from its URL'];
  }
  return ['state', isStatementError(error) ? 'its log may say more' : address];
}

/** Explains an error to an operator: the database's own message, and what to do. It has no password and no SQL. */
export function explainDatabaseError(error: unknown): string {
  return `${rootMessage(error)}: ${meaningOf(error)[1]}`;
}

/** The error for a database that is unusable until somebody changes its settings or its URL. */
export class DatabaseSettingsError extends Error {
  override readonly name = 'DatabaseSettingsError';

  constructor(advice: string, cause: unknown) {
    super(`the database cannot be used (${rootMessage(cause)}): ${advice}`, { cause });
  }
}

/** Returns an error that ends the start, if only a person can remove the cause. */
export function databaseSettingsError(cause: unknown): DatabaseSettingsError | undefined {
  if (cause instanceof DatabaseSettingsError) return cause;
  const [kind, advice] = meaningOf(cause);
  return kind === 'settings' ? new DatabaseSettingsError(advice, cause) : undefined;
}

/**
 * Whether the database rolled a statement back. After a commit, the server sends only warnings, so the
 * severity ERROR shows a rollback (PostgreSQL's manual, "Error and Notice Message Fields").
 */
export function isStatementError(error: unknown): boolean {
  // The server may reject a new session with an error, too.
  return !(reasonOf(error) instanceof NotSentError) && rootCause(error)?.severity === 'ERROR';
}

/** Whether one row of a statement is wrong. The statement changed nothing; the other rows may be valid. */
function isDataError(error: unknown): boolean {
  return isStatementError(error) && !isLateWrite(error) && meaningOf(error)[0] === 'row';
}

/** The error of a batch that changed nothing, and whose parts have to be sent separately: see `citus/`. */
export class PartsError extends Error {
  override readonly name = 'PartsError';
  readonly severity = 'ERROR';
  /** The ids of each part. */
  readonly parts: readonly (readonly string[])[];

  constructor(parts: readonly (readonly string[])[], options?: ErrorOptions) {
    super('the rows of the batch are on several nodes', options);
    this.parts = parts;
  }
}

/** Whether parts of a batch may succeed after the whole batch has failed and changed nothing. */
export function isSplittable(error: unknown): boolean {
  if (reasonOf(error) instanceof PartsError) return true;
  return isDataError(error) || (isStatementError(error) && meaningOf(error)[0] === 'wait');
}

export function isReadOnlyError(error: unknown): boolean {
  return databaseCode(error) === '25006';
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

/** The error for a commit whose wait for the standby was cancelled. A failover may lose the commit. */
export function unconfirmedCommit(): Error {
  const message = 'the database warned that a failover may lose the commit';
  return Object.assign(new Error(message), { code: '01000' });
}

export function isUnconfirmed(error: unknown): boolean {
  return databaseCode(error) === '01000';
}

/** The error of a statement that was never sent, because no connection was free. */
export class NotSentError extends Error {
  override readonly name = 'NotSentError';
}

/** The error of a statement that still runs at the end of its caller's wait. */
export class OverdueError extends Error {
  override readonly name = 'OverdueError';
  override readonly message = 'the database did not respond in time';
}

/** Whether a statement was sent, and its connection was lost before the outcome was known. */
export function isLostConnection(error: unknown): boolean {
  const reason = reasonOf(error);
  if (reason instanceof NotSentError || reason instanceof OverdueError) return false;
  return !(reason instanceof PlantStoreError || isUnconfirmed(reason) || isStatementError(reason));
}

/** The cause of the error for a call whose caller has disconnected. */
export class CallerDisconnectedError extends Error {
  override readonly name = 'CallerDisconnectedError';
}

/** The error for a call whose caller has disconnected. Nobody reads this error. */
export function callerDisconnected(): PlantStoreError {
  const message = 'the caller has disconnected';
  const cause = new CallerDisconnectedError(message);
  return new PlantStoreError('databaseUnavailable', message, { cause });
}

/** The error of the database or the network that is the cause of an error of the store. */
export function reasonOf(error: unknown): unknown {
  return error instanceof PlantStoreError ? (error.cause ?? error) : error;
}

/** The advice when the database may have executed the call, and the advice when nothing has changed. */
export type Advice = readonly [ifDone?: string, ifNotDone?: string];

/** The error for a call that the database has not executed, or has perhaps not executed. */
export function databaseUnavailable(
  error?: unknown,
  [ifDone = 'try again', ifNotDone = 'try again later']: Advice = [],
): PlantStoreError {
  const cause = reasonOf(error);
  const message =
    cause instanceof NotSentError
      ? `the store has no connection to the database: ${ifNotDone}`
      : isStatementError(cause)
        ? `the database cannot do this now (SQLSTATE ${databaseCode(cause)}): ${ifNotDone}`
        : `the database did not respond: ${ifDone}`;
  return new PlantStoreError('databaseUnavailable', message, { cause });
}

/** The error for a call whose query failed. */
export function explainError(error: unknown, advice?: Advice): PlantStoreError {
  if (error instanceof PlantStoreError) return error;
  // Drizzle wraps each error of a statement in another error.
  if (error instanceof Error && error.cause instanceof PlantStoreError) return error.cause;
  const state = `(SQLSTATE ${databaseCode(error)})`;
  if (['22021', '22P05'].includes(databaseCode(error) ?? '')) {
    const message = `invalid input: the encoding of the database cannot hold this text ${state}`;
    return new PlantStoreError('invalidInput', message, { cause: error });
  }
  if (!isDataError(error)) return databaseUnavailable(error, advice);
  const message = `the database does not allow this ${state}: nothing was written, tell the operator before you send it again`;
  return new PlantStoreError('plantRejected', message, { cause: error });
}

/** Waits for a query, and turns its error into a PlantStoreError. */
export async function orUnavailable<T>(query: PromiseLike<T>, advice?: Advice): Promise<T> {
  try {
    return await query;
  } catch (error) {
    throw explainError(error, advice);
  }
}

/**
 * The error for a data directory that the store cannot use, for example because another process has the lock.
 */
export class DataDirectoryError extends Error {
  override readonly name = 'DataDirectoryError';
}
