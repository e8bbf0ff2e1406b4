import type { ErrorKind } from '@plant-store/schemas';
import type { HttpError } from './http-error.ts';

/** The headers of an error reply, on either surface. */
export function errorHeaders({
  kind,
  requiredScope,
  retryAfter,
}: HttpError): Record<string, string> {
  const headers = headersByKind[kind] ?? {};
  if (retryAfter !== undefined) return { 'retry-after': `${retryAfter}` };
  if (!requiredScope) return headers;
  // RFC 6750 §3.1.
  const challenge = `Bearer realm="plant-store", error="insufficient_scope", scope="${requiredScope}"`;
  return { ...headers, 'www-authenticate': challenge };
}

const retrySoon = { 'retry-after': '1' };

const headersByKind: Partial<Record<ErrorKind, Record<string, string>>> = {
  tokenMissing: { 'www-authenticate': 'Bearer realm="plant-store"' },
  tokenInvalid: { 'www-authenticate': 'Bearer realm="plant-store", error="invalid_token"' },
  databaseUnavailable: retrySoon,
  identityProviderUnavailable: retrySoon,
  overloaded: retrySoon,
  shuttingDown: retrySoon,
};
