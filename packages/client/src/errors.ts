import { type ErrorKind, type errorCatalogue, errorKind, isTemporary } from '@plant-store/schemas';
import { isTRPCClientError } from '@trpc/client';
import type { AppRouter } from './client.ts';

/** The error of a call, or of a plant in a batch. Either `kind` or `code` identifies the error. */
export type PlantStoreError = CatalogueError[ErrorKind] | NoResponse;

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
 * No response of the store arrived in time: for example, the network failed, or a proxy responded. The store may
 * have executed the call. It is safe to send a create again.
 */
interface NoResponse {
  kind: 'noResponse';
  code: undefined;
  /** The HTTP status, if a proxy responded. */
  status: number | undefined;
  message: string;
}

/**
 * Explains the error that a call threw, or the error of one plant in the results of a batch.
 *
 * @returns undefined for an aborted call, and for a value that is not an error of a call or of a plant
 */
export function plantStoreError(thrown: unknown): PlantStoreError | undefined {
  if (!isTRPCClientError<AppRouter>(thrown)) return fromCatalogue(thrown);
  const { data, message, cause } = thrown;
  const { response, responseJSON, path, isRepeatable } = Object(thrown.meta);
  // A request with too large headers has no known path, so the server sends the error in the format of REST.
  const sent = fromCatalogue(data ? { ...data, message } : responseJSON);
  if (sent || data || cause?.name === 'AbortError') return sent;
  const done = path?.startsWith('delete') ? 'deleted' : 'done';
  const look = isRepeatable === false && `it may be ${done}: look first`;
  const advice = look || 'check its address and the network, and try again';
  // In Node, the cause of the error says why the network failed. A browser hides the reason from a web page.
  const { message: why, code, status = response?.status } = Object(cause?.cause);
  const reasons = [message, status ? `HTTP ${status}` : why || code].filter(Boolean);
  return {
    kind: 'noResponse',
    code: undefined,
    status,
    message: `the plant store did not respond: ${advice} (${reasons.join(': ')})`,
  };
}

/** Makes the error for an error code. Returns undefined for other values and for unknown codes. */
function fromCatalogue(sent: unknown): PlantStoreError | undefined {
  const { error: code, message, fields = {} } = Object(sent);
  const kind = errorKind(code);
  if (!kind) return undefined;
  const error = { kind, code, message: `${message}`, ...(kind === 'invalidInput' && { fields }) };
  // TypeScript does not know that this `kind` and this `code` belong together.
  return error as CatalogueError[ErrorKind];
}

/**
 * Whether a retry of the call, or of one plant in a batch, may succeed, for example after a network error.
 * The result is `false` for each mutation except creates of plants: a second delete could delete a new plant.
 */
export function isRetryable(thrown: unknown): boolean {
  const error = plantStoreError(thrown);
  if (!error || Object(thrown).meta?.isRepeatable === false) return false;
  if (error.kind !== 'noResponse') return isTemporary(error.code);
  // The page of a proxy may have the status 200, for example during maintenance.
  const { status = 503 } = error;
  return status < 300 || status >= 500 || isTemporary(status * 100);
}
