import { type ErrorKind, errorCatalogue, httpStatus } from '@plant-store/schemas';
import { TRPCError } from '@trpc/server';
import { getHTTPStatusCodeFromError } from '@trpc/server/http';
import { TRPC_ERROR_CODES_BY_KEY } from '@trpc/server/rpc';
import { flattenError, ZodError } from 'zod';
import { maxIssues, PlantStoreError } from '../../plant-store-error.ts';

/**
 * Returns the error of the catalogue for any thrown value. A value that is not in the catalogue is a bug, and
 * clients do not see the message of the value.
 */
export function toStoreError(thrown: unknown): PlantStoreError {
  if (thrown instanceof PlantStoreError) return thrown;
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  if (cause instanceof PlantStoreError) return cause;
  const kind = thrown instanceof TRPCError && kindByTrpcCode[thrown.code];
  if (kind) return new PlantStoreError(kind, thrown.message, { cause });
  const masked =
    'internal error: tell the operator the X-Request-Id of this response, under which the log has the cause';
  return new PlantStoreError('internal', masked, { cause: thrown });
}

type TRPCCode = TRPCError['code'];

/** The kinds of the errors that tRPC itself throws before it calls a procedure. */
const kindByTrpcCode: Partial<Record<TRPCCode, ErrorKind>> = {
  BAD_REQUEST: 'malformedRequest',
  METHOD_NOT_SUPPORTED: 'methodNotAllowed',
  NOT_FOUND: 'pathUnknown',
  PARSE_ERROR: 'malformedRequest',
  UNSUPPORTED_MEDIA_TYPE: 'unsupportedMediaType',
};

/** The error in a tRPC response: tRPC's own shape, plus the error code of the catalogue. */
export function errorShape(
  { kind, message, cause }: Pick<PlantStoreError, 'kind' | 'message' | 'cause'>,
  path?: string,
) {
  const status = httpStatus(kind);
  const code = codeByStatus.get(status) ?? 'BAD_REQUEST';
  const fields =
    kind === 'invalidInput' &&
    cause instanceof ZodError &&
    flattenError(new ZodError(cause.issues.slice(0, maxIssues)));
  return {
    message,
    code: TRPC_ERROR_CODES_BY_KEY[code],
    data: {
      code,
      httpStatus: status,
      error: errorCatalogue[kind].code,
      ...(path !== undefined && { path }),
      ...(fields && { fields: fields.fieldErrors as Record<string, string[]> }),
    },
  };
}

const trpcCodes = Object.keys(TRPC_ERROR_CODES_BY_KEY) as TRPCCode[];
const codeByStatus = new Map(
  trpcCodes.map((code) => [getHTTPStatusCodeFromError(new TRPCError({ code })), code]),
);
