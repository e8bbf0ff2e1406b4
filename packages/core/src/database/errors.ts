import { databaseCode, databaseRoutine, rootMessage } from '../error-causes.ts';
import { PlantStoreError } from '../plant-store-error.ts';

/** What an error of the database or the network means. */
interface Meaning {
  /**
   * - `row`: one row of the statement is wrong, and the other rows may be valid
   * - `wait`: the statement waited too long, perhaps because of one row
   * - `settings`: only a person can remove the error, so the store does not start
   */
  readonly kind?: 'row' | 'wait' | 'settings';
  readonly what: string;
  readonly remedy: string;
}

const unusable = 'the database cannot be used';
const address = 'check the host and the port in DATABASE_URL, and that the database is running';
const difference = 'plant-store-server doctor shows what to do';

/** The meanings by SQLSTATE, by the class of a SQLSTATE, or by the code of a network error. */
const meanings: Readonly<Record<string, Meaning>> = {
  '01000': {
    what: 'a commit did not wait for the standby, because somebody cancelled the wait',
    remedy: 'check the standby; a failover now loses the commit',
  },
  '08P01': {
    kind: 'settings',
    what: unusable,
    remedy: 'add ?pgbouncer=true to its URL if it is a PgBouncer',
  },
  '22': { kind: 'row', what: 'a value does not fit', remedy: difference },
  '23': {
    kind: 'row',
    what: 'the table does not allow a plant',
    remedy: 'drop the constraint, unless you want it',
  },
  '25006': {
    what: 'the database accepts no writes',
    remedy: 'connect to the primary, or make the database writable',
  },
  '28000': {
    kind: 'settings',
    what: unusable,
    remedy: 'check the user in its URL, and pg_hba.conf',
  },
  '28P01': {
    kind: 'settings',
    what: unusable,
    remedy:
      'check the user and the password in its URL, where special characters are percent-encoded, such as %40 for @',
  },
  '3D000': {
    kind: 'settings',
    what: unusable,
    remedy: 'create that database, or check the name in its URL',
  },
  '42501': { what: 'a privilege is missing', remedy: difference },
  '42704': { kind: 'settings', what: unusable, remedy: 'remove that setting from its URL' },
  '42P01': { what: 'a table is missing', remedy: difference },
  '42P10': {
    what: 'the primary key of plants is missing or invalid',
    remedy:
      'run REINDEX INDEX CONCURRENTLY plants_pkey, or ALTER TABLE plants ADD PRIMARY KEY (id)',
  },
  '42': { what: 'a table is not as the store needs it', remedy: difference },
  '53100': { what: 'the disk of the database is full', remedy: 'free some room there' },
  '53300': {
    what: 'the database has no free connection',
    remedy: 'raise max_connections, or run fewer clients',
  },
  '55P03': {
    kind: 'wait',
    what: 'another session has locked the table or a row',
    remedy: `try again when that session has ended; ${difference}`,
  },
  '57014': {
    kind: 'wait',
    what: 'the database took too long',
    remedy: 'try again; pg_locks and pg_stat_activity show what it waits for',
  },
  '57P03': { what: 'the database is starting or stopping', remedy: 'try again in a moment' },
  P0: {
    kind: 'row',
    what: 'a trigger rejects a plant',
    remedy: 'drop the trigger, or correct its function',
  },
  ECONNREFUSED: { what: 'nothing accepts connections there', remedy: address },
  ENOENT: { what: 'the socket of the database does not exist', remedy: address },
  ENOTFOUND: { kind: 'settings', what: unusable, remedy: 'check the host in its URL' },
  TLS_NOT_OFFERED: {
    kind: 'settings',
    what: unusable,
    remedy: 'remove sslmode from its URL if the network is safe, or turn on TLS in the server',
  },
};

const noTls: Meaning = {
  kind: 'settings',
  what: unusable,
  remedy:
    'the server asks for TLS: add ?sslmode=verify-full to its URL, or ?sslmode=require, which does not verify ' +
    'the server',
};

const policy: Meaning = {
  what: 'row-level security or a rule changes the statements of the store',
  remedy:
    'run ALTER TABLE … DISABLE ROW LEVEL SECURITY or DROP RULE … ON that table, or let a superuser run ' +
    'ALTER ROLE … BYPASSRLS for the user of the store',
};

function meaningOf(error: unknown): Meaning {
  if (isPolicyError(error)) return policy;
  const code = databaseCode(error) ?? '';
  if (code === '28000' && /no encryption|SSL off/.test(rootMessage(error))) return noTls;
  const known = meanings[code] ?? meanings[code.slice(0, 2)];
  if (known) return known;
  if (/CERT|SIGNATURE|TLS/.test(code)) {
    const remedy = 'check the certificate of the server, and sslrootcert in its URL';
    return { kind: 'settings', what: unusable, remedy };
  }
  return isStatementError(error)
    ? { what: 'the database rejects the statement', remedy: 'its log may say more' }
    : { what: 'the database did not respond', remedy: address };
}

/**
 * Explains an error to an operator: what is wrong, the database's own message, and what to do. The text has
 * no password and no SQL.
 */
export function explainDatabaseError(error: unknown): string {
  const { what, remedy } = meaningOf(error);
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
  const { kind, remedy } = meaningOf(cause);
  return kind === 'settings' ? new DatabaseSettingsError(remedy, cause) : undefined;
}

/** Whether one row of a statement is wrong. The statement changed nothing; the other rows may be valid. */
export function isDataError(error: unknown): boolean {
  // The server can reject a new session with one of these SQLSTATEs, too.
  if (isLateWrite(error) || !isStatementError(error)) return false;
  return isPolicyError(error) || meaningOf(error).kind === 'row';
}

/** Whether the halves of a batch may succeed after the whole batch has failed and changed nothing. */
export function isSplittable(error: unknown): boolean {
  return isDataError(error) || (isStatementError(error) && meaningOf(error).kind === 'wait');
}

/**
 * Whether row-level security or a rule prevented a statement. A missing privilege causes the same SQLSTATE,
 * and the server may translate its messages. So this function checks the routine that raised the error.
 */
export function isPolicyError(error: unknown): boolean {
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
