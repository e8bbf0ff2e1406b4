import { databaseCode, rootMessage } from '../error-causes.ts';
import { isPolicyError, isStatementError, reasonOf } from './database-error.ts';
import { databaseUrlSyntax } from './database-url.ts';

/** The SQLSTATE of a Postgres that accepts no writes. The store's own error has this code, too. */
export const readOnlyCode = '25006';

/** The code of the store's own error for a Postgres without TLS. */
export const noTlsCode = 'TLS_NOT_OFFERED';

/** The code of the store's own error for a feed that belongs to another database. */
export const restoredFeedCode = 'FEED_RESTORED';

/** The code of the store's own error for a pooler that rejects transactions. */
export const noTransactionsCode = 'NO_TRANSACTIONS';

/** The error for a database that is unusable until somebody changes its settings or its URL. */
export class DatabaseSettingsError extends Error {
  override readonly name = 'DatabaseSettingsError';

  constructor(remedy: string, cause: unknown) {
    super(`${unusable} (${rootMessage(cause)}): ${remedy}`, { cause });
  }
}

/** Wraps a database error if only new settings can remove the error. Otherwise, returns undefined. */
export function databaseSettingsError(cause: unknown): DatabaseSettingsError | undefined {
  if (cause instanceof DatabaseSettingsError) return cause;
  const remedy = settingsRemedy(cause);
  return remedy === undefined ? undefined : new DatabaseSettingsError(remedy, cause);
}

/** The error for a URL that cannot be parsed. */
export function databaseUrlError(cause: unknown): DatabaseSettingsError {
  return new DatabaseSettingsError(`check its URL, ${databaseUrlSyntax}`, cause);
}

/**
 * Explains an error of the database or of the network to an operator. The text says what is wrong, quotes the
 * database's own message, and says what to do. The text contains no password and no SQL.
 */
export function explainDatabaseError(error: unknown): string {
  const remedy = settingsRemedy(error);
  const advice = remedy === undefined ? adviceFor(error) : { what: unusable, remedy };
  return `${advice.what} (${rootMessage(error)}): ${advice.remedy}`;
}

const unusable = 'the database cannot be used';

/** Returns the remedy for an error that only new settings can remove, or undefined for other errors. */
function settingsRemedy(error: unknown): string | undefined {
  const code = databaseCode(error);
  const message = rootMessage(error);
  return settingsRemedies.find(
    (each) => each.code === code && each.pattern?.test(message) !== false,
  )?.remedy;
}

/** If a code has several meanings, the message must also match the pattern. */
const settingsRemedies: readonly { code: string; pattern?: RegExp; remedy: string }[] = [
  {
    code: '28000',
    pattern: /no encryption|SSL off|sslmode=require/,
    remedy:
      'the server asks for TLS: add ?sslmode=verify-full to its URL, or ?sslmode=require, which does ' +
      'not verify the server',
  },
  { code: '28000', remedy: 'check the user in its URL, and pg_hba.conf' },
  {
    code: '28P01',
    remedy:
      'check the user and the password in its URL, where special characters are percent-encoded, such as %40 for @',
  },
  { code: '3D000', remedy: 'create that database, or check the name in its URL' },
  { code: '42704', pattern: /configuration parameter/, remedy: 'remove it from its URL' },
  {
    code: noTlsCode,
    remedy: 'remove sslmode from its URL if the network is safe, or turn on TLS in the server',
  },
];

interface Advice {
  readonly what: string;
  readonly remedy: string;
}

function adviceFor(error: unknown): Advice {
  const code = databaseCode(error) ?? '';
  const known = isPolicyError(error)
    ? policyAdvice[code]
    : (advice[code] ?? advice[code.slice(0, 2)]);
  if (known) return known;
  if (/CERT|SIGNATURE|TLS/.test(code)) {
    const remedy = 'check the certificate of the server, and sslrootcert in its URL';
    return { what: unusable, remedy };
  }
  if (isStatementError(reasonOf(error))) {
    return { what: 'the database rejects the statement', remedy: 'its log may say more' };
  }
  const remedy = 'check DATABASE_URL, and that the database is running';
  return { what: 'the database did not respond', remedy };
}

const address = 'check the host and the port in DATABASE_URL, and that the database is running';
const difference = 'plant-store-server doctor shows what to do';

/** The advice for errors of row-level security and of rules. The keys are SQLSTATEs. */
const policyAdvice: Record<string, Advice | undefined> = {
  '42501': {
    what: 'row-level security hides rows from the store',
    remedy:
      'run ALTER TABLE … DISABLE ROW LEVEL SECURITY for that table, or let a superuser run ALTER ROLE … ' +
      'BYPASSRLS for the user of the store',
  },
  '0A000': {
    what: 'a rule of the table rejects the statements of the store',
    remedy: 'run DROP RULE … ON that table; \\d plants lists its rules',
  },
};

/** The advice for a SQLSTATE, for the class of a SQLSTATE, or for the code of a network error. */
const advice: Record<string, Advice | undefined> = {
  ECONNREFUSED: { what: 'nothing accepts connections there', remedy: address },
  ENOTFOUND: { what: 'no machine has that name', remedy: 'check the host in DATABASE_URL' },
  ENOENT: {
    what: 'the socket of the database does not exist',
    remedy: 'check the directory and the port in DATABASE_URL, and that the database is running',
  },
  [noTransactionsCode]: {
    what: 'the pooler in front of the database rejects transactions',
    remedy: 'set its pool_mode to transaction or session: statement mode is not enough',
  },
  '23': {
    what: 'the table does not allow a plant',
    remedy: 'drop the constraint, unless you want it',
  },
  '42P10': {
    what: 'the primary key of plants is missing or invalid',
    remedy:
      'run REINDEX INDEX CONCURRENTLY plants_pkey, or ALTER TABLE plants ADD PRIMARY KEY (id)',
  },
  P0: { what: 'a trigger rejects a plant', remedy: 'drop the trigger, or correct its function' },
  [readOnlyCode]: {
    what: 'the database accepts no writes',
    remedy: 'connect to the primary, or make the database writable',
  },
  [restoredFeedCode]: {
    what: 'the feed of changes must begin anew',
    remedy: 'wait until an instance of the store has begun it, or run plant-store-server doctor',
  },
  '42501': { what: 'a privilege is missing', remedy: difference },
  '42P01': { what: 'a table is missing', remedy: difference },
  '42703': { what: 'a column is missing', remedy: difference },
  '42804': { what: 'a column has another type', remedy: difference },
  '42883': { what: 'a column has another type', remedy: difference },
  '53100': { what: 'the disk of the database is full', remedy: 'free some room there' },
  '53300': {
    what: 'the database has no free connection',
    remedy: 'raise max_connections, or run fewer clients',
  },
  '55P03': {
    what: 'another session has locked the table',
    remedy: 'try again when that session has ended; plant-store-server doctor names it',
  },
  '57014': {
    what: 'the database took too long',
    remedy: 'try again; pg_locks and pg_stat_activity show what it waits for',
  },
  '57P03': { what: 'the database is starting or stopping', remedy: 'try again in a moment' },
};
