import { type ErrorKind, errorCatalogue, httpStatus, type Scope } from '@plant-store/schemas';
import { getTRPCErrorFromUnknown, TRPCError } from '@trpc/server';
import { getHTTPStatusCodeFromError } from '@trpc/server/http';
import { TRPC_ERROR_CODES_BY_KEY } from '@trpc/server/rpc';
import { flattenError, ZodError } from 'zod';
import { maxIssues, PlantStoreError } from '../../plant-store-error.ts';

type TRPCCode = TRPCError['code'];

/** An error from the catalogue with the message for clients. */
export interface CatalogueError {
  readonly kind: ErrorKind;
  readonly message: string;
  /** The missing scope, if the kind is `insufficientScope`. */
  readonly requiredScope?: Scope | undefined;
  /** The cause of the error, which only the operator may see. */
  readonly cause?: unknown;
}

/** Makes a TRPCError from a thrown value. A PlantStoreError becomes the cause of the TRPCError. */
export function toTRPCError(thrown: unknown): TRPCError {
  const error = thrown instanceof TRPCError ? thrown.cause : thrown;
  if (!(error instanceof PlantStoreError)) return getTRPCErrorFromUnknown(thrown);
  return new TRPCError({ code: trpcCode(error.kind), message: error.message, cause: error });
}

/**
 * Finds the catalogue's entry for any thrown value. An error without an entry is a bug, and clients do not
 * see the error's message.
 */
export function toCatalogueError(thrown: unknown): CatalogueError {
  const { cause, code, message } = toTRPCError(thrown);
  if (isOfCatalogue(cause)) {
    const { kind, message, requiredScope, cause: reason } = cause;
    return { kind, message, requiredScope, cause: reason };
  }
  if (code === 'BAD_REQUEST' && cause instanceof SyntaxError) {
    return {
      kind: 'bodyNotJson',
      message: `the body is not JSON (${cause.message}): send one JSON value`,
      cause,
    };
  }
  const kind = kindByTrpcCode[code];
  if (kind) return { kind, message, cause };
  const masked =
    'internal error: tell the operator the X-Request-Id of this response, under which the log has the cause';
  return { kind: 'internal', message: masked, cause: cause ?? thrown };
}

/** Whether the error is from the store, or from the adapter that passed the context to a procedure. */
function isOfCatalogue(cause: unknown): cause is CatalogueError {
  return cause instanceof Error && Object.hasOwn(errorCatalogue, Object(cause).kind);
}

/** The error in a tRPC response: tRPC's own shape, plus the error code of the catalogue. */
export function errorShape({ kind, message, cause }: CatalogueError, path?: string) {
  const code = trpcCode(kind);
  const fields =
    kind === 'invalidInput' &&
    cause instanceof ZodError &&
    flattenError(new ZodError(cause.issues.slice(0, maxIssues)));
  return {
    message,
    code: TRPC_ERROR_CODES_BY_KEY[code],
    data: {
      code,
      httpStatus: httpStatus(kind),
      error: errorCatalogue[kind].code,
      ...(path !== undefined && { path }),
      ...(fields && { fields: fields.fieldErrors as Record<string, string[]> }),
    },
  };
}

function trpcCode(kind: ErrorKind): TRPCCode {
  return codeByStatus.get(httpStatus(kind)) ?? 'BAD_REQUEST';
}

const trpcCodes = Object.keys(TRPC_ERROR_CODES_BY_KEY) as TRPCCode[];
const codeByStatus = new Map(
  trpcCodes.map((code) => [getHTTPStatusCodeFromError(new TRPCError({ code })), code]),
);

/** The errors that tRPC itself throws before it calls a procedure. */
const kindByTrpcCode: Partial<Record<TRPCCode, ErrorKind>> = {
  BAD_REQUEST: 'malformedRequest',
  METHOD_NOT_SUPPORTED: 'methodNotAllowed',
  NOT_FOUND: 'pathUnknown',
  PARSE_ERROR: 'malformedRequest',
  UNSUPPORTED_MEDIA_TYPE: 'unsupportedMediaType',
};
