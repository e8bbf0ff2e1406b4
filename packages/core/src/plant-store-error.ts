import { type ErrorKind, type ErrorNumber, errorCatalogue, httpStatus } from '@plant-store/schemas';
import { TRPCError } from '@trpc/server';
import { ZodError } from 'zod';

type TRPCCode = TRPCError['code'];

/**
 * Every failure of the store, whether it comes from `store.create`, a procedure's caller or an
 * adapter. A TRPCError, so that it travels through tRPC as it is.
 *
 * `kind` names its entry in the error catalogue, `error` is that entry's number and `message` is
 * fit for the client. What only the operator may see is in `cause`.
 */
export class PlantStoreError extends TRPCError {
  override readonly name = 'PlantStoreError';
  readonly kind: ErrorKind;
  readonly error: ErrorNumber;

  constructor(kind: ErrorKind, message: string, options?: { cause?: unknown }) {
    super({ code: codeByStatus[httpStatus(kind)] ?? 'BAD_REQUEST', message, ...options });
    this.kind = kind;
    this.error = errorCatalogue[kind].error;
  }

  /** The HTTP status that goes with this error. */
  get status(): number {
    return httpStatus(this.kind);
  }
}

/** Makes anything thrown into an error of the catalogue; what it does not know is a bug and is masked. */
export function toPlantStoreError(error: unknown): PlantStoreError {
  if (error instanceof PlantStoreError) return error;
  const cause = error instanceof TRPCError ? error.cause : undefined;
  const code = error instanceof TRPCError ? error.code : undefined;

  if (code === 'BAD_REQUEST' && cause instanceof ZodError) {
    return invalidInput(cause);
  }
  if (code === 'BAD_REQUEST' && cause instanceof SyntaxError) {
    return new PlantStoreError('bodyNotJson', `the body is not JSON: ${cause.message}`, { cause });
  }
  const kind = code && kindByCode[code];
  if (kind && error instanceof TRPCError)
    return new PlantStoreError(kind, error.message, { cause });

  return new PlantStoreError('internal', 'internal error: the server has logged what went wrong', {
    cause: cause ?? error,
  });
}

/** The id belongs to another plant, which stays as it is. */
export function idTaken(id: bigint): PlantStoreError {
  const message = `id ${id} belongs to another plant: choose an id that is free`;
  return new PlantStoreError('idTaken', message);
}

/** The input does not fit its schema; the message names each field and what is wrong with it. */
export function invalidInput(cause: ZodError): PlantStoreError {
  const problems = cause.issues.map(({ path, message }) => `${path.join('.') || 'it'} ${message}`);
  return new PlantStoreError('invalidInput', `invalid input: ${problems.join('; ')}`, { cause });
}

const codeByStatus: Record<number, TRPCCode> = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHORIZED',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_SUPPORTED',
  408: 'TIMEOUT',
  409: 'CONFLICT',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  429: 'TOO_MANY_REQUESTS',
  500: 'INTERNAL_SERVER_ERROR',
  503: 'SERVICE_UNAVAILABLE',
};

/** What tRPC itself refuses before a procedure runs. */
const kindByCode: Partial<Record<TRPCCode, ErrorKind>> = {
  BAD_REQUEST: 'malformedRequest',
  METHOD_NOT_SUPPORTED: 'methodNotAllowed',
  NOT_FOUND: 'pathUnknown',
  PARSE_ERROR: 'malformedRequest',
  UNSUPPORTED_MEDIA_TYPE: 'unsupportedMediaType',
};
