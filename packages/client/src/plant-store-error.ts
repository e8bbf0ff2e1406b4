import { type ErrorKind, type errorCatalogue, errorKind, isTemporary } from '@plant-store/schemas';
import { isTRPCClientError } from '@trpc/client';
import { AccessTokenError } from './access-token.ts';
import type { AppRouter } from './app-router.ts';

/**
 * The error of a call, or of a plant in a batch. Either `kind` or `code` identifies the error. `Name` limits
 * the type to the errors of one procedure.
 */
export type PlantStoreError<Name extends ProcedureName = ProcedureName> =
  | CatalogueError[KindOf<Name>]
  | NoResponse;

type ProcedureName = keyof AppRouter['_def']['record'];

type KindOf<Name extends ProcedureName> = {
  [Kind in ErrorKind]: (typeof errorCatalogue)[Kind] extends { only: readonly (infer Only)[] }
    ? Extract<Name, Only> extends never
      ? never
      : Kind
    : Kind;
}[ErrorKind];

/** An error in a response of the store. The error catalogue lists these errors. */
type CatalogueError = {
  [Kind in ErrorKind]: {
    kind: Kind;
    /** The error code in the catalogue: the HTTP status × 100, plus a number from 0 to 99. */
    code: (typeof errorCatalogue)[Kind]['code'];
    message: string;
  } & (Kind extends 'invalidInput' ? { fields: FieldMessages } : unknown);
};

/** The messages for each invalid field, such as `{ name: ['must be a string'] }`. */
type FieldMessages = { [field: string]: string[] | undefined };

/**
 * No response of the store arrived, because the network failed or a proxy responded. The store may have
 * executed the call. It is safe to send a create again.
 */
interface NoResponse {
  /** `timeout`: the call reached its time limit. `noStream`: the platform cannot read a stream. */
  kind: 'noResponse' | 'timeout' | 'noStream';
  code: undefined;
  message: string;
}

/**
 * Explains the error that a call threw, or the error of one plant in the results of a batch. The type of
 * `plantStoreError<'getPlant'>(thrown)` has only the errors of `getPlant`.
 *
 * @returns undefined for an aborted call, for a missing access token, and for a value that is not an error
 *   of a call or of a plant
 */
export function plantStoreError<Name extends ProcedureName = ProcedureName>(
  thrown: unknown,
): PlantStoreError<Name> | undefined {
  // TypeScript cannot check `Name`, because only the caller knows which procedure threw the value.
  return explain(thrown) as PlantStoreError<Name> | undefined;
}

function explain(thrown: unknown): PlantStoreError | undefined {
  if (!isTRPCClientError<AppRouter>(thrown)) {
    const { error, message }: ResultError = Object(thrown);
    return fromCatalogue({ error }, `${message}`);
  }
  const { data, message, cause, meta } = thrown;
  if (data) return fromCatalogue(data, message);
  // A request with too large headers has no known path, so the server sends the error in the format of REST.
  const sent: ResultError = Object(meta?.['responseJSON']);
  const error = fromCatalogue({ error: sent.error }, `${sent.message}`);
  if (error) return error;
  if (cause instanceof AccessTokenError || cause?.name === 'AbortError') return undefined;
  if (cause?.name === 'NoStreamError') return { kind: 'noStream', code: undefined, message };
  const kind = cause?.name === 'TimeoutError' ? 'timeout' : 'noResponse';
  return { kind, code: undefined, message: `${noResponse} (${message})` };
}

/**
 * Whether a retry of the call, or of one plant in a batch, may succeed. For example, the result is `true`
 * when the network or the database was down. The result for a delete is always `false`: a second delete could
 * delete a new plant with the same id.
 */
export function isRetryable(thrown: unknown): boolean {
  const { response, isRepeatable }: CallMeta = Object(Object(thrown).meta);
  if (isRepeatable === false) return false;
  const error = plantStoreError(thrown);
  if (error?.code) return isTemporary(error.kind);
  if (!isTRPCClientError<AppRouter>(thrown)) return false;
  const { data, cause } = thrown;
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

/** Makes the error for a call or a connection that has reached a time limit of `limit` milliseconds. */
export function timeoutError(limit: number): Error {
  const error = new Error(`no response within ${limit / 1_000} seconds`);
  return Object.assign(error, { name: 'TimeoutError' });
}

/** Makes the error for an error code. Returns undefined for a code that only a newer server uses. */
function fromCatalogue(
  { error: code, fields = {} }: SentError,
  message: string,
): PlantStoreError | undefined {
  const kind = errorKind(code);
  // TypeScript does not know that this `kind` and this `code` belong together.
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

/** The error of one plant in the results of a batch, or the error in a REST response. */
interface ResultError extends SentError {
  message?: unknown;
}

interface SentError {
  error?: unknown;
  fields?: FieldMessages;
}
