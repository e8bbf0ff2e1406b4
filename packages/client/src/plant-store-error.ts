import { type ErrorKind, type errorCatalogue, errorKind, isTemporary } from '@plant-store/schemas';
import { isTRPCClientError } from '@trpc/client';
import { AccessTokenError } from './access-token.ts';
import type { AppRouter } from './app-router.ts';

/**
 * The error of a call, or of a plant in a batch. Both `kind` and `code` tell the members of this union apart.
 * With the name of a procedure, the union has only the errors that this procedure can have.
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
 * Explains the error that a call of the client threw, or the result for a plant in a batch.
 * `plantStoreError<'getPlant'>(thrown)` has the type of the errors that `getPlant` can have.
 *
 * @returns undefined for an aborted call, for a missing access token, for a plant that is in the store, and for
 *   an error that is not from a call.
 */
export function plantStoreError<Name extends ProcedureName = ProcedureName>(
  thrown: unknown,
): PlantStoreError<Name> | undefined {
  // The caller knows the procedure, and a thrown value does not have its name.
  return explain(thrown) as PlantStoreError<Name> | undefined;
}

function explain(thrown: unknown): PlantStoreError | undefined {
  if (!isTRPCClientError<AppRouter>(thrown)) {
    const { error, message }: ResultError = Object(thrown);
    return fromCatalogue({ error }, `${message}`);
  }
  const { data, message, cause, meta } = thrown;
  if (data) return fromCatalogue(data, message);
  // When the headers are too large, the server does not know the path, so the response has REST's shape.
  const sent: ResultError = Object(meta?.['responseJSON']);
  const error = fromCatalogue({ error: sent.error }, `${sent.message}`);
  if (error) return error;
  if (cause instanceof AccessTokenError || cause?.name === 'AbortError') return undefined;
  if (cause?.name === 'NoStreamError') return { kind: 'noStream', code: undefined, message };
  const kind = cause?.name === 'TimeoutError' ? 'timeout' : 'noResponse';
  return { kind, code: undefined, message: `${noResponse} (${message})` };
}

/**
 * Whether the same call, or the same plant of a batch, may succeed later: the network, a proxy, the server or the database was down or
 * overloaded. `false` for a delete, because a second delete could delete a new plant with the same id.
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

/** Makes the error of a call or a connection that has reached its time limit in milliseconds. */
export function timeoutError(limit: number): Error {
  const error = new Error(`no response within ${limit / 1_000} seconds`);
  return Object.assign(error, { name: 'TimeoutError' });
}

/** Makes the error for an error code. Returns undefined for a code that only a newer server has. */
function fromCatalogue(
  { error: code, fields = {} }: SentError,
  message: string,
): PlantStoreError | undefined {
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

/** An error in the result for a plant, or in a response of REST. */
interface ResultError extends SentError {
  message?: unknown;
}

interface SentError {
  error?: unknown;
  fields?: FieldMessages;
}
