import { transformer } from '@plant-store/core/internal';
import { type CatalogueError, errorShape } from '@plant-store/core/router';
import { type ErrorKind, httpStatus, isTemporary } from '@plant-store/schemas';
import { type HttpError, showText } from './http-error.ts';

const { serialize } = transformer.output;

/**
 * Writes the body of an error response. The request target shows whether the client uses REST or tRPC. A
 * client of tRPC can read an error only in tRPC's own envelope.
 */
export function errorBody(error: HttpError, target: string): string {
  const path = trpcPathOf(target);
  if (path !== undefined) return trpcErrorBody(error, path);
  const { code, message } = error;
  return JSON.stringify({ error: code, message });
}

export function trpcErrorBody(error: CatalogueError, path: string): string {
  return JSON.stringify({ error: trpcError(error, path) });
}

export function trpcError(error: CatalogueError, path: string): object {
  return serialize(errorShape(error, showText(path) || undefined));
}

/** Returns the procedures in a request target. Returns undefined for a request target of REST. */
function trpcPathOf(target: string): string | undefined {
  const [, surface = '', path = ''] = /^\/([^/?]*)\/?([^?]*)/.exec(target) ?? [];
  return decode(surface) === 'trpc' ? decode(path) : undefined;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Caches must not store a JSON response, and browsers must not guess its type. */
export const jsonHeaders = {
  'content-type': 'application/json',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
};

/** The headers of an error response, over REST and over tRPC. */
export function errorHeaders({
  kind,
  requiredScope,
  retryAfter,
}: HttpError): Record<string, string> {
  const isDown = httpStatus(kind) === 503 && isTemporary(kind);
  const seconds = retryAfter ?? (isDown ? 1 : undefined);
  if (seconds !== undefined) return { 'retry-after': `${seconds}` };
  const headers = headersByKind[kind] ?? {};
  if (!requiredScope) return headers;
  // RFC 6750 §3.1.
  const challenge = `Bearer realm="plant-store", error="insufficient_scope", scope="${requiredScope}"`;
  return { ...headers, 'www-authenticate': challenge };
}

const headersByKind: Partial<Record<ErrorKind, Record<string, string>>> = {
  tokenMissing: { 'www-authenticate': 'Bearer realm="plant-store"' },
  tokenInvalid: { 'www-authenticate': 'Bearer realm="plant-store", error="invalid_token"' },
};
