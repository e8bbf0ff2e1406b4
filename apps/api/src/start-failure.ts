import { DataDirectoryInUseError } from '@plant-store/core';
import { ConfigurationError } from './env.ts';

/** Says why the server did not start and what to do about it. */
export function explainStartFailure(error: unknown): string {
  const problems = explain(error).split('\n');
  return ['The plant store did not start.', ...problems].join('\n  ');
}

function explain(error: unknown): string {
  if (error instanceof ConfigurationError || error instanceof DataDirectoryInUseError) {
    return error.message;
  }
  const { code = '', message } =
    error instanceof Error ? rootOf(error) : { message: String(error) };
  if (code === 'EADDRINUSE' || code === 'EACCES' || code === 'EADDRNOTAVAIL') {
    return `${message}: set PORT and HOST to an address that is free`;
  }
  return `${message || code}: if this is about the database, check DATABASE_URL`;
}

/** The error under what libraries wrap around it. */
function rootOf(error: Error): Error & { code?: string } {
  return error.cause instanceof Error ? rootOf(error.cause) : error;
}
