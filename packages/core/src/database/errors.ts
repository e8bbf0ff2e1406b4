import { databaseCode, databaseRoutine, rootMessage } from '../error-causes.ts';
import { PlantStoreError } from '../plant-store-error.ts';

/**
 * What an error of the database or the network means:
 *
 * - `row`: one row of the statement is wrong, and the other rows may be valid
 * - `wait`: the statement waited too long, perhaps because of one row
 * - `settings`: only a person can remove the error, so the store does not start
 * - `state`: the error may pass
 */
type Meaning = readonly [kind: 'row' | 'wait' | 'settings' | 'state', what: string, remedy: string];

const unusable = 'the database cannot be used';
const address = 'check the host and the port in DATABASE_URL, and that the database is running';

/** The meanings by SQLSTATE, by the class of a SQLSTATE, or by the code of a network error. */
const meanings: Readonly<Record<string, Meaning>> = {
  '01000': [
    'state',
    'somebody cancelled the wait of a commit for the standby',
    'check the standby',
  ],
  '08P01': ['settings', unusable, 'add ?pgbouncer=true to its URL if it is a PgBouncer'],
  '22': ['row', 'a value does not fit', 'give the columns name and tag the type text again'],
  '23': ['row', 'the table does not allow a plant', 'drop the constraint, unless you want it'],
  '25006': [
    'state',
    'it accepts no writes',
    'connect to the primary, or make the database writable',
  ],
  '28000': ['settings', unusable, 'check the user in its URL, and pg_hba.conf'],
  '28P01': [
    'settings',
    unusable,
    'check the user and the password in its URL, where special characters are percent-encoded, such as %40 for @',
  ],
  '3D000': ['settings', unusable, 'create that database, or check the name in its URL'],
  '42': ['state', 'a table is not as the store needs it', 'undo the changes of its columns'],
  '42501': [
    'state',
    'a privilege is missing',
    'grant it to the user of the store, as plant-store-server doctor shows',
  ],
  '42704': ['settings', unusable, 'remove that setting from its URL'],
  '42P10': [
    'state',
    'the primary key of plants is missing or invalid',
    'run REINDEX INDEX CONCURRENTLY plants_pkey, or ALTER TABLE plants ADD PRIMARY KEY (id)',
  ],
  '53100': ['state', 'the disk of the database is full', 'free some room there'],
  '53300': ['state', 'no connection is free', 'raise max_connections, or run fewer clients'],
  '55P03': [
    'wait',
    'another session has locked the table or a row',
    'end that session, which plant-store-server doctor names',
  ],
  '57014': ['wait', 'the database took too long', 'pg_stat_activity shows what it waits for'],
  '57P03': ['state', 'the database is starting or stopping', 'try again in a moment'],
  P0: ['row', 'a trigger rejects a plant', 'drop the trigger, or correct its function'],
  ECONNREFUSED: ['state', 'nothing accepts connections there', address],
  ENOENT: ['state', 'the socket of the database does not exist', address],
  ENOTFOUND: ['settings', unusable, 'check the host in its URL'],
  TLS_NOT_OFFERED: [
    'settings',
    unusable,
    'remove sslmode from its URL if the network is safe, or turn on TLS in the server',
  ],
};

const noTls: Meaning = [
  'settings',
  unusable,
  'the server asks for TLS: add ?sslmode=verify-full to its URL, or ?sslmode=require, which does not verify the server',
];

const certificate: Meaning = [
  'settings',
  unusable,
  'check the certificate of the server, and sslrootcert in its URL',
];

const policy: Meaning = [
  'row',
  'row-level security or a rule changes the statements of the store',
  'run ALTER TABLE … DISABLE ROW LEVEL SECURITY or DROP RULE … ON that table, or let a superuser run ALTER ROLE … BYPASSRLS for the user of the store',
];

function meaningOf(error: unknown): Meaning {
  const code = databaseCode(error) ?? '';
  if (isPolicyError(error)) return policy;
  if (code === '28000' && /no encryption|SSL off/.test(rootMessage(error))) return noTls;
  const known = meanings[code] ?? meanings[code.slice(0, 2)];
  if (known) return known;
  if (/CERT|SIGNATURE|TLS/.test(code)) return certificate;
  return isStatementError(error)
    ? ['state', 'the database rejects the statement', 'its log may say more']
    : ['state', 'the database did not respond', address];
}

/**
 * Explains an error to an operator: what is wrong, the database's own message, and what to do. The text has
 * no password and no SQL.
 */
export function explainDatabaseError(error: unknown): string {
  const [, what, remedy] = meaningOf(error);
  return `${what} (${rootMessage(error)}): ${remedy}`;
}

/** The error for a database that is unusable until somebody changes its settings or its URL. */
export class DatabaseSettingsError extends Error {
  override readonly name = 'DatabaseSettingsError';

  constructor(remedy: string, cause: unknown) {
    super(`${unusable} (${rootMessage(cause)}): ${remedy}`, { cause });
  }
}

/** Returns an error that ends the start, if only a person can remove the cause. */
export function databaseSettingsError(cause: unknown): DatabaseSettingsError | undefined {
  if (cause instanceof DatabaseSettingsError) return cause;
  const [kind, , remedy] = meaningOf(cause);
  return kind === 'settings' ? new DatabaseSettingsError(remedy, cause) : undefined;
}

/** Whether one row of a statement is wrong. The statement changed nothing; the other rows may be valid. */
export function isDataError(error: unknown): boolean {
  // The server can reject a new session with one of these SQLSTATEs, too.
  if (isLateWrite(error) || !isStatementError(error)) return false;
  return meaningOf(error)[0] === 'row';
}

/** Whether the halves of a batch may succeed after the whole batch has failed and changed nothing. */
export function isSplittable(error: unknown): boolean {
  return isDataError(error) || (isStatementError(error) && meaningOf(error)[0] === 'wait');
}

/**
 * Whether row-level security or a rule prevented a statement. A missing privilege causes the same SQLSTATE,
 * and the server may translate its messages. So this function checks the routine that raised the error.
 */
function isPolicyError(error: unknown): boolean {
  return policyRoutines.includes(databaseRoutine(error) ?? '');
}

const policyRoutines = ['check_enable_rls', 'ExecWithCheckOptions', 'RewriteQuery'];

/** The error of the database or the network that is the cause of an error of the store. */
export function reasonOf(error: unknown): unknown {
  return error instanceof PlantStoreError ? (error.cause ?? error) : error;
}

/**
 * Whether the database rolled a statement back. After a commit, the server sends only warnings, so the
 * severity ERROR shows a rollback (PostgreSQL's manual, "Error and Notice Message Fields").
 */
export function isStatementError(error: unknown): boolean {
  const reason = reasonOf(error);
  return reason instanceof Error && 'severity' in reason && reason.severity === 'ERROR';
}

/** Whether the text contains a character that does not exist in the database's encoding. */
export function hasInvalidText(error: unknown): boolean {
  return ['22021', '22P05'].includes(databaseCode(error) ?? '');
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
  /** Resolves when the statement has ended, or its connection was dropped. */
  readonly ended: Promise<void>;

  constructor(ended: Promise<void>) {
    super('the database did not respond in time');
    this.ended = ended;
  }
}

/** Whether a statement was sent, and its connection was lost before the outcome was known. */
export function isLostConnection(error: unknown): boolean {
  const reason = reasonOf(error);
  if (reason instanceof NotSentError || reason instanceof OverdueError) return false;
  if (reason instanceof PlantStoreError || isUnconfirmed(reason)) return false;
  return !isStatementError(reason);
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

/** Waits for a query, and turns its error into a PlantStoreError. */
export async function orUnavailable<T>(query: PromiseLike<T>, advice?: Advice): Promise<T> {
  try {
    return await query;
  } catch (error) {
    throw toStoreError(error, advice);
  }
}

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
