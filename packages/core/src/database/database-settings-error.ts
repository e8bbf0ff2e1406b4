import { sqlState } from './database-error.ts';

/** The database is there and refuses the store, until somebody changes its settings or the URL. */
export class DatabaseSettingsError extends Error {
  override readonly name = 'DatabaseSettingsError';
}

/** Makes it of what a database has failed with; undefined when that may go away by itself. */
export function databaseSettingsError(cause: unknown): DatabaseSettingsError | undefined {
  const remedy = remedies[sqlState(cause) ?? ''];
  if (!remedy) return undefined;
  const message = `the database cannot be used (${rootMessage(cause)}): ${remedy}`;
  return new DatabaseSettingsError(message, { cause });
}

/** By SQLSTATE. */
const remedies: Record<string, string> = {
  '28000': 'check the user in its URL, and pg_hba.conf',
  '28P01': 'check the user and the password in its URL',
  '3D000': 'create that database, or check the name in its URL',
  '42501': 'grant its user the right to create tables there',
};

/** What the database said, under what Drizzle wraps around it. */
function rootMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause ? rootMessage(error.cause) : error.message;
}
