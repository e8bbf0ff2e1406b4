import { type ErrorKind, type errorCatalogue, errorKind, isTemporary } from '@plant-store/schemas';
import { isTRPCClientError } from '@trpc/client';
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
  /** `timeout`: the call reached its time limit. */
  kind: 'noResponse' | 'timeout';
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
  if (!isTRPCClientError<AppRouter>(thrown)) return fromCatalogue(thrown);
  const { data, message, cause } = thrown;
  if (data) return fromCatalogue({ ...data, message });
  const { response, responseJSON, path, isRepeatable }: CallMeta = Object(thrown.meta);
  // A request with too large headers has no known path, so the server sends the error in the format of REST.
  const error = fromCatalogue(responseJSON);
  if (error) return error;
  if (cause instanceof AccessTokenError || cause?.name === 'AbortError') return undefined;
  const kind = cause?.name === 'TimeoutError' ? 'timeout' : 'noResponse';
  const done = path?.startsWith('delete') ? 'deleted' : 'done';
  const advice =
    isRepeatable === false
      ? `it may be ${done}: look first`
      : 'check its address and the network, and try again';
  const reason = response ? `HTTP ${response.status}` : message;
  return {
    kind,
    code: undefined,
    message: `the plant store did not respond: ${advice} (${reason})`,
  };
}

/** The properties that the links add to an error. */
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
  if (cause instanceof AccessTokenError || cause?.name === 'AbortError') return false;
  // A response without a known error code came from a proxy or a newer server.
  const { status } = cause instanceof ResponseError ? cause : (response ?? { status: 503 });
  const known = data?.httpStatus ?? status;
  return [200, 408, 429].includes(known) || (known >= 500 && known !== 501);
}

/**
 * The client sent no request, because the access token is missing or invalid, or because the token function
 * threw an error. A token is invalid if an HTTP header cannot contain all its characters.
 */
export class AccessTokenError extends Error {
  override readonly name = 'AccessTokenError';
}

/** A response that is not from the store. */
export class ResponseError extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`HTTP ${status}, which is not from a plant store`);
    this.status = status;
  }
}

/** Makes the error for a call that has reached its time limit of `limit` milliseconds. */
export function timeoutError(limit: number): Error {
  const error = new Error(`no response within ${limit / 1_000} seconds`);
  return Object.assign(error, { name: 'TimeoutError' });
}
