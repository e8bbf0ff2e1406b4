import { databaseCode, rootMessage } from '../error-causes.ts';
import { databaseUrlSyntax } from './database-url.ts';

/** The database cannot be used until somebody changes its settings or its URL. */
export class DatabaseSettingsError extends Error {
  override readonly name = 'DatabaseSettingsError';

  constructor(remedy: string, cause: unknown) {
    super(`the database cannot be used (${rootMessage(cause)}): ${remedy}`, { cause });
  }
}

/** Makes a settings error of a database error; undefined when a retry may succeed. */
export function databaseSettingsError(cause: unknown): DatabaseSettingsError | undefined {
  const remedy = remedies[databaseCode(cause) ?? ''];
  return remedy ? new DatabaseSettingsError(remedy, cause) : undefined;
}

/** The error for a URL that cannot be parsed. */
export function databaseUrlError(cause: unknown): DatabaseSettingsError {
  return new DatabaseSettingsError(`check its URL, ${databaseUrlSyntax}`, cause);
}

/** What the operator can do, by SQLSTATE. */
const remedies: Record<string, string> = {
  '28000': 'check the user in its URL, and pg_hba.conf',
  '28P01': 'check the user and the password in its URL',
  '3D000': 'create that database, or check the name in its URL',
  '42501': 'grant its user the right to create tables there',
};
