import { type ErrorKind, type errorCatalogue, errorKind, isTemporary } from '@plant-store/schemas';
import { isTRPCClientError } from '@trpc/client';
import type { AppRouter } from './app-router.ts';

/** The error of a call, or of a plant in a batch. Either `kind` or `code` identifies the error. */
export type PlantStoreError = CatalogueError[ErrorKind] | NoResponse;

/** An error in a response of the store. The error catalogue lists these errors. */
type CatalogueError = {
  [Kind in ErrorKind]: {
    kind: Kind;
    /** The error code in the catalogue: the HTTP status × 100, plus a number from 0 to 99. */
    code: (typeof errorCatalogue)[Kind]['code'];
    message: string;
    /** The messages for each invalid field, such as `{ name: ['must be a string'] }`. */
  } & (Kind extends 'invalidInput' ? { fields: Record<string, string[] | undefined> } : unknown);
};

/**
 * No response of the store arrived, because the network failed or a proxy responded. The store may have
 * executed the call. It is safe to send a create again.
 */
interface NoResponse {
  /** `timeout`: the call reached its time limit. */
  kind: 'noResponse' | 'timeout';
  code: undefined;
  message: string;
}

/**
 * Explains the error that a call threw, or the error of one plant in the results of a batch.
 *
 * @returns undefined for an aborted call, for a missing access token, and for a value that is not an error
 *   of a call or of a plant
 */
export function plantStoreError(thrown: unknown): PlantStoreError | undefined {
  if (!isTRPCClientError<AppRouter>(thrown)) return fromCatalogue(thrown);
  const { data, message, cause } = thrown;
  const { responseJSON, path, isRepeatable }: CallMeta = Object(thrown.meta);
  // A request whose headers are too large has no known path, so the server sends the error in the format of REST.
  const sent = fromCatalogue(data ? { ...data, message } : responseJSON);
  if (sent || data || cause instanceof AccessTokenError || cause?.name === 'AbortError')
    return sent;
  const done = path?.startsWith('delete') ? 'deleted' : 'done';
  const advice =
    isRepeatable === false
      ? `it may be ${done}: look first`
      : 'check its address and the network, and try again';
  const status = statusOf(thrown);
  // In Node, the cause says why the network failed. A browser does not tell this to a web page.
  const { message: why, code } = Object(cause?.cause);
  const reason = status ? notFromStore(status).message : [message, why || code].filter(Boolean);
  return {
    kind: cause?.name === 'TimeoutError' ? 'timeout' : 'noResponse',
    code: undefined,
    message: `the plant store did not respond: ${advice} (${[reason].flat().join(': ')})`,
  };
}

/** The properties that tRPC and the links add to an error. */
interface CallMeta {
  response?: { status: number };
  responseJSON?: unknown;
  path?: string;
  isRepeatable?: boolean;
}

/** Makes the error for an error code. Returns undefined for a code that only a newer server uses. */
function fromCatalogue(sent: unknown): PlantStoreError | undefined {
  const { error: code, message, fields = {} } = Object(sent);
  const kind = errorKind(code);
  if (!kind) return undefined;
  const error = { kind, code, message: `${message}`, ...(kind === 'invalidInput' && { fields }) };
  // TypeScript does not know that this `kind` and this `code` belong together.
  return error as CatalogueError[ErrorKind];
}

/** Returns the status of a response that is not from the store. */
function statusOf(thrown: unknown): number | undefined {
  const { meta, cause } = Object(thrown);
  return meta?.response?.status ?? cause?.status;
}

/** Makes the error for a response that is not from the store. */
export function notFromStore(status: number): Error {
  return Object.assign(new Error(`HTTP ${status}, which is not from a plant store`), { status });
}

/**
 * Whether a retry of the call, or of one plant in a batch, may succeed. For example, the result is `true`
 * when the network or the database was down. The result for a delete is always `false`: a second delete could
 * delete a new plant with the same id.
 */
export function isRetryable(thrown: unknown): boolean {
  const error = plantStoreError(thrown);
  const { meta } = Object(thrown);
  if (!error || meta?.isRepeatable === false) return false;
  if (error.code) return isTemporary(error.kind);
  const status = statusOf(thrown) ?? 503;
  // A successful response without JSON comes from a proxy, for example during maintenance.
  return status < 300 || status >= 500 || status === 408 || status === 429;
}

/** The client sent no request, because the access token is missing, or an HTTP header cannot contain it. */
export class AccessTokenError extends Error {
  override readonly name = 'AccessTokenError';
}
