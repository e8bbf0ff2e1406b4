import type { ErrorKind } from '@plant-store/schemas';

/** The headers of an error reply, on either surface. */
export function errorHeaders({ kind }: { kind: ErrorKind }): Record<string, string> {
  return headersByKind[kind] ?? {};
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
