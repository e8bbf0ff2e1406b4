import {
  type ErrorKind,
  errorCatalogue,
  errorKinds,
  httpStatus,
  type Scope,
} from '@plant-store/schemas';
import { errorExamples } from '../errors/error-examples.ts';
import { header, rateLimit, requestId, requiredHeader } from './reply-headers.ts';

/** What decides which errors an operation can have. */
interface Operation {
  hasBody: boolean;
  /** Whether its path has the id of a plant. */
  namesPlant: boolean;
  /** The scope that it needs. */
  scope: Scope | undefined;
}

/** The responses of every error status that the server can send for an operation. */
export function errorResponses(operation: Operation): Record<string, object> {
  const kinds = errorKinds.filter((kind) => canHave(operation, kind));
  const byStatus = Object.entries(Object.groupBy(kinds, httpStatus));
  return Object.fromEntries(
    byStatus.map(([status, group = []]) => [
      status,
      {
        description: describe(status, group, operation),
        headers: headersOf(status, group),
        content: {
          'application/json': {
            schema: { $ref: '#/components/schemas/Error' },
            examples: Object.fromEntries(group.map((kind) => [kind, example(kind, operation)])),
          },
        },
      },
    ]),
  );
}

/** The errors of requests that have a body; those of requests that create are among them. */
const onlyWithBody: ReadonlySet<ErrorKind> = new Set([
  'bodyNotJson',
  'idTaken',
  'bodyTooLarge',
  'unsupportedMediaType',
]);

function canHave({ hasBody, namesPlant }: Operation, kind: ErrorKind): boolean {
  if (kind === 'plantUnknown') return namesPlant;
  return hasBody || !onlyWithBody.has(kind);
}

function describe(status: string, group: ErrorKind[], operation: Operation): string {
  const lines = group.map((kind) => `${errorCatalogue[kind].code}: ${when(kind, operation)}`);
  return `${status === '400' ? 'Unexpected error. ' : ''}${lines.join('; ')}`;
}

function when(kind: ErrorKind, { hasBody }: Operation): string {
  if (kind === 'invalidInput' && !hasBody) return 'a parameter is not valid';
  return errorCatalogue[kind].when;
}

function headersOf(status: string, group: ErrorKind[]): object {
  const isLimited = group.some((kind) => !beforeRateLimit.has(kind));
  return { ...requestId, ...(isLimited && rateLimit), ...headersByStatus[status] };
}

/** The errors of requests that the server rejects before it counts them. */
const beforeRateLimit: ReadonlySet<ErrorKind> = new Set([
  'malformedRequest',
  'pathUnknown',
  'methodNotAllowed',
  'requestTimeout',
  'expectationFailed',
  'headersTooLarge',
]);

function example(kind: ErrorKind, operation: Operation): object {
  const message = exampleFor(operation)[kind] ?? errorExamples[kind];
  const value = { error: errorCatalogue[kind].code, message };
  return { summary: when(kind, operation), value };
}

/** Messages that differ between operations. */
function exampleFor({ hasBody, namesPlant, scope }: Operation): Partial<Record<ErrorKind, string>> {
  return {
    ...(scope && {
      insufficientScope: `the access token lacks the scope ${scope}: use a token that has it`,
    }),
    ...(namesPlant && {
      methodNotAllowed: '/plants/1 takes DELETE, GET, HEAD, not PUT',
    }),
    ...(!hasBody && {
      invalidInput: namesPlant
        ? 'invalid input: id must be a whole number'
        : 'invalid input: limit must be an integer from 1 to 1000',
      databaseUnavailable: 'the database did not answer: try again',
    }),
  };
}

const retryAfter = { 'Retry-After': requiredHeader('Seconds after which to try again') };

const headersByStatus: Record<string, object> = {
  401: { 'WWW-Authenticate': requiredHeader('The challenge of RFC 6750') },
  403: { 'WWW-Authenticate': requiredHeader('The challenge of RFC 6750') },
  405: { Allow: requiredHeader('The methods of this path') },
  415: {
    'Accept-Encoding': header(
      'The content codings that a body may have; sent when that of the request is another',
    ),
  },
  429: retryAfter,
  503: retryAfter,
};
