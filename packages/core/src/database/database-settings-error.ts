import { rootMessage } from '../error-causes.ts';
import { settingsAdvice } from './database-remedy.ts';
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
  if (cause instanceof DatabaseSettingsError) return cause;
  const advice = settingsAdvice(cause);
  return advice && new DatabaseSettingsError(advice.remedy, cause);
}

/** The error for a URL that cannot be parsed. */
export function databaseUrlError(cause: unknown): DatabaseSettingsError {
  return new DatabaseSettingsError(`check its URL, ${databaseUrlSyntax}`, cause);
}
