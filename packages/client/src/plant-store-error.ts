import { type ErrorKind, type errorCatalogue, errorKind, isTemporary } from '@plant-store/schemas';
import { isTRPCClientError } from '@trpc/client';
import { AccessTokenError } from './access-token.ts';
import type { AppRouter } from './app-router.ts';

/** The error of a call. Both `kind` and `code` tell the members of this union apart. */
export type PlantStoreClientError = CatalogueError[ErrorKind] | NoResponse;

/** An error of the catalogue, from a response of the store. */
type CatalogueError = {
  [Kind in ErrorKind]: {
    kind: Kind;
    /** The error code of the catalogue: the HTTP status × 100 plus a detail. */
    code: (typeof errorCatalogue)[Kind]['code'];
    message: string;
  } & (Kind extends 'invalidInput' ? { fields: FieldMessages } : unknown);
};

/** The messages for each invalid field, such as `{ name: ['must be a string'] }`. */
type FieldMessages = { [field: string]: string[] | undefined };

/**
 * No response of the store arrived, because the network failed or a proxy responded. The store may or may not
 * have carried out the call. It is always safe to repeat a create.
 */
interface NoResponse {
  /** After `timeout`, the time limit of the call has ended. `noStream` means a platform without streams. */
  kind: 'noResponse' | 'timeout' | 'noStream';
  code: undefined;
  message: string;
}

/**
 * Explains the error that a call of the client threw.
 *
 * @returns undefined for an aborted call, for a missing access token, and for an error that is not from a
 *   call.
 */
export function plantStoreError(thrown: unknown): PlantStoreClientError | undefined {
  if (!isTRPCClientError<AppRouter>(thrown)) return undefined;
  const { data, message, cause, meta } = thrown;
  if (data) return fromCatalogue(data, message);
  // When the headers are too large, the server does not know the path, so the response has REST's shape.
  const sent: SentError & { message?: unknown } = Object(meta?.['responseJSON']);
  const error = fromCatalogue({ error: sent.error }, `${sent.message}`);
  if (error) return error;
  if (cause instanceof AccessTokenError || cause?.name === 'AbortError') return undefined;
  if (cause?.name === 'NoStreamError') return { kind: 'noStream', code: undefined, message };
  const kind = cause?.name === 'TimeoutError' ? 'timeout' : 'noResponse';
  return { kind, code: undefined, message: `${noResponse} (${message})` };
}

/**
 * Whether the same call may succeed later: the network, a proxy, the server or the database was down or
 * overloaded. `false` for a delete, because a second delete could delete a new plant with the same id.
 */
export function isRetryable(thrown: unknown): boolean {
  if (!isTRPCClientError<AppRouter>(thrown)) return false;
  const { data, cause } = thrown;
  const { response, isRepeatable }: CallMeta = Object(thrown.meta);
  if (isRepeatable === false) return false;
  const error = plantStoreError(thrown);
  if (error?.code) return isTemporary(error.kind);
  if (cause instanceof AccessTokenError) return false;
  if (cause?.name === 'AbortError' || cause?.name === 'NoStreamError') return false;
  // A response without a known error code came from a proxy or a newer server.
  const status = data?.httpStatus ?? response?.status ?? 503;
  return [200, 408, 429].includes(status) || (status >= 500 && status !== 501);
}

interface CallMeta {
  response?: { status: number };
  isRepeatable?: boolean;
}

const noResponse =
  'the plant store did not respond: check its address and the network, and try again';

/** Makes the error of a call or a connection that has reached its time limit in milliseconds. */
export function timeoutError(limit: number): Error {
  const error = new Error(`no response within ${limit / 1_000} seconds`);
  return Object.assign(error, { name: 'TimeoutError' });
}

/** Makes the error for an error code. Returns undefined for a code that only a newer server has. */
function fromCatalogue(
  { error: code, fields = {} }: SentError,
  message: string,
): PlantStoreClientError | undefined {
  const kind = errorKind(code);
  // The members of the union differ only in their literals, and TypeScript cannot check the literals here.
  return (
    kind &&
    ({
      kind,
      code,
      message,
      ...(kind === 'invalidInput' && { fields }),
    } as CatalogueError[ErrorKind])
  );
}

interface SentError {
  error?: unknown;
  fields?: FieldMessages;
}
