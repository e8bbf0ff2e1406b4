import { databaseCode, PlantStoreError, rootCause, rootMessage } from '../plant-store-error.ts';

/**
 * The meaning of an error of the database or the network, and the advice:
 *
 * - `row`: one row of the statement is wrong, and the other rows may be valid
 * - `wait`: the statement waited too long, perhaps because of one row
 * - `settings`: only a person can remove the error, so the store does not start
 * - `state`: the error may end while the store runs
 */
type Meaning = readonly [kind: 'row' | 'wait' | 'settings' | 'state', advice: string];

/** The meanings by SQLSTATE, by the class of a SQLSTATE, and by the codes of other errors. */
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
  '53100': ['state', 'free some room on the disk of the database'],
  '53300': ['state', 'raise max_connections, or run fewer clients'],
  '55P03': ['wait', 'end the session that has the lock, which plant-store-server doctor names'],
  '57014': ['wait', 'look up in pg_stat_activity what the database waits for'],
  '57P03': ['state', 'try again in a moment: the database is starting or stopping'],
  P0: ['row', 'drop the trigger, or correct its function'],
  CITUS_WORKER: ['settings', 'set DATABASE_URL to the address of the coordinator'],
  ENOTFOUND: ['settings', 'check the host in its URL'],
  POLICY: [
    'row',
    'row-level security or a rule of a table stops the store: run ALTER TABLE … DISABLE ROW LEVEL SECURITY or ' +
      'DROP RULE … ON that table, or let a superuser run ALTER ROLE … BYPASSRLS for the user of the store',
  ],
};

/** The functions of Postgres that report row-level security or a rule by a SQLSTATE that is too general. */
const policyRoutines = ['check_enable_rls', 'ExecWithCheckOptions', 'RewriteQuery'];

function meaningOf(error: unknown): Meaning {
  const isPolicy = policyRoutines.includes(String(rootCause(error)?.routine));
  const code = isPolicy ? 'POLICY' : (databaseCode(error) ?? '');
  const known = meanings[code] ?? meanings[code.slice(0, 2)];
  if (known) return known;
  if (/CERT|SIGNATURE/.test(code)) {
    return ['settings', 'check the certificate of the server, and sslrootcert in its URL'];
  }
  if (rootMessage(error).includes('secure TLS')) {
    return ['state', 'turn on TLS in the server, or remove sslmode from its URL'];
  }
  if (outcomeOf(error) === 'rolledBack') return ['state', 'its log may say more'];
  // An error of the network has a code. The store's own error about a slow database has no code.
  return code === ''
    ? ['state', 'the database may be slow: check its load, its disk and its locks']
    : ['state', 'check the host and the port in DATABASE_URL, and that the database is running'];
}

/** Returns a text for an operator: the database's message and advice. The text has no password and no SQL. */
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

/** Returns the error that prevents a start of the store, if only a person can remove the cause. */
export function databaseSettingsError(cause: unknown): DatabaseSettingsError | undefined {
  if (cause instanceof DatabaseSettingsError) return cause;
  const [kind, advice] = meaningOf(cause);
  return kind === 'settings' ? new DatabaseSettingsError(advice, cause) : undefined;
}

/** The error for a data directory that the store cannot use, for example because another process has the lock. */
export class DataDirectoryError extends Error {
  override readonly name = 'DataDirectoryError';
}

/** The outcome of a statement that did not succeed. */
type Outcome =
  | 'abandoned' // The caller disconnected before the statement was sent.
  | 'notSent' // No connection could be opened, or the store itself rejected the call.
  | 'late' // The deadline had passed, so the statement changed nothing.
  | 'rolledBack' // The database rolled the statement back for another reason.
  | 'unconfirmed' // A standby or a node has not confirmed the commit, so a failover may lose the commit.
  | 'overdue' // The statement has not ended at the deadline of its caller.
  | 'lost'; // The connection was lost before the response.

/** An error of the store itself about a statement. All other errors come from the database or the network. */
export class StatementError extends Error {
  override readonly name = 'StatementError';
  readonly outcome: Outcome;

  constructor(outcome: Outcome, message: string, options?: ErrorOptions) {
    super(message, options);
    this.outcome = outcome;
  }
}

/** The error of a batch that changed nothing. The parts must be sent separately: see `citus/writes.ts`. */
export class PartsError extends StatementError {
  /** The ids of each part. */
  readonly parts: readonly (readonly string[])[];

  constructor(parts: readonly (readonly string[])[]) {
    super('rolledBack', 'the rows of the batch are on several nodes');
    this.parts = parts;
  }
}

/** The message of the error of a late write: see `tooLate` in `plants/statements.ts`. */
export const lateWrite = 'the deadline of this write has passed';

/** Returns the outcome of a statement that ended with an error, or with the PlantStoreError made from this error. */
export function outcomeOf(error: unknown): Outcome {
  const reason = reasonOf(error);
  if (reason instanceof StatementError) return reason.outcome;
  if (reason instanceof PlantStoreError) return 'notSent';
  // After a commit, the server sends only warnings, so the severity ERROR shows a rollback (PostgreSQL's manual,
  // "Error and Notice Message Fields").
  if (rootCause(reason)?.severity !== 'ERROR') return 'lost';
  return rootMessage(reason).includes(lateWrite) ? 'late' : 'rolledBack';
}

/** Whether parts of a batch may succeed after the whole batch has failed and changed nothing. */
export function isSplittable(error: unknown): boolean {
  if (reasonOf(error) instanceof PartsError) return true;
  return outcomeOf(error) === 'rolledBack' && ['row', 'wait'].includes(meaningOf(error)[0]);
}

/** The error for a commit that a standby or a node of Citus has not confirmed. */
export function unconfirmedCommit(): Error {
  const message = 'the database warned that a failover may lose the commit';
  return Object.assign(new StatementError('unconfirmed', message), { code: '01000' });
}

/** The error for a call whose caller has disconnected. Nobody reads this error. */
export function callerDisconnected(): PlantStoreError {
  return databaseUnavailable(new StatementError('abandoned', 'the caller has disconnected'));
}

/** The error for a call that finds a full queue. */
export function overloaded(): PlantStoreError {
  const message =
    'too many such requests are waiting: nothing was written, send the request again later';
  return new PlantStoreError('overloaded', message);
}

/** The error for a call that has changed nothing until its deadline, and for a statement that still runs then. */
export const late = () => new StatementError('late', 'no statement has ended in time');
export const overdue = () => new StatementError('overdue', 'the database did not respond in time');

/** The error for a call or a wait while the store closes, or afterwards. */
export function closing(): PlantStoreError {
  const message = 'the store is closing: nothing was written, send the request again later';
  return new PlantStoreError('shuttingDown', message);
}

/** Returns the error of the database or of the network that caused an error of the store. */
export function reasonOf(error: unknown): unknown {
  return error instanceof PlantStoreError ? (error.cause ?? error) : error;
}

/** The advice when the database may have executed the call, and the advice when nothing has changed. */
export type Advice = readonly [ifDone?: string, ifNotDone?: string];

/** The error for a call that the database did not execute, or perhaps did not execute. */
export function databaseUnavailable(
  error?: unknown,
  [ifDone = 'try again', ifNotDone = 'try again later']: Advice = [],
): PlantStoreError {
  const cause = reasonOf(error);
  const messages: Partial<Record<Outcome, string>> = {
    notSent: `the store has no connection to the database: ${ifNotDone}`,
    late: `the database did not respond in time: ${ifNotDone}`,
    rolledBack: `the database cannot do this now (SQLSTATE ${databaseCode(cause)}): ${ifNotDone}`,
  };
  const message = messages[outcomeOf(cause)] ?? `the database did not respond: ${ifDone}`;
  return new PlantStoreError('databaseUnavailable', message, { cause });
}

/** Turns the error of a statement into the error for its call. */
export function explainError(error: unknown, advice?: Advice): PlantStoreError {
  if (error instanceof PlantStoreError) return error;
  // Drizzle wraps each error of a statement in another error.
  if (error instanceof Error && error.cause instanceof PlantStoreError) return error.cause;
  const isOfRow = outcomeOf(error) === 'rolledBack' && meaningOf(error)[0] === 'row';
  if (!isOfRow) return databaseUnavailable(error, advice);
  const state = `(SQLSTATE ${databaseCode(error)}): nothing was written`;
  if (['22021', '22P05'].includes(databaseCode(error) ?? '')) {
    const message = `invalid input: the encoding of the database cannot hold this text ${state}`;
    return new PlantStoreError('invalidInput', message, { cause: error });
  }
  const message = `the database rejects this ${state}, tell the operator before you send it again`;
  return new PlantStoreError('plantRejected', message, { cause: error });
}

/** Waits for a query, and turns an error of the query into a PlantStoreError. */
export function orUnavailable<T>(query: PromiseLike<T>): Promise<T> {
  return Promise.resolve(query).catch((error) => {
    throw explainError(error);
  });
}
