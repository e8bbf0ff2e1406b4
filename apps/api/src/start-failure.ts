import { DataDirectoryError } from '@plant-store/core';
import { ConfigurationError } from './env.ts';

/** Says why the server did not start and what to do about it. */
export function explainStartFailure(error: unknown): string {
  const problems = explain(error).split('\n');
  return ['The plant store did not start.', ...problems].join('\n  ');
}

function explain(error: unknown): string {
  if (error instanceof ConfigurationError || error instanceof DataDirectoryError) {
    return error.message;
  }
  const { code, syscall, message } = rootOf(error);
  if (syscall === 'listen') return `${message}: set PORT and HOST to an address that is free`;
  return `${message || code}: if this is about the database, check DATABASE_URL`;
}

/** The error under what libraries wrap around it. */
function rootOf(error: unknown): NodeJS.ErrnoException {
  if (!(error instanceof Error)) return new Error(String(error));
  return error.cause instanceof Error ? rootOf(error.cause) : error;
}
