import {
  type ErrorKind,
  errorCatalogue,
  errorKinds,
  httpStatus,
  operations,
  type Scope,
} from '@plant-store/schemas';
import { errorExamples } from './error-examples.ts';
import { header, rateLimit, requestId, requiredHeader } from './response-headers.ts';

/** The errors of an operation depend on these properties of the operation. */
interface Operation {
  /** The name of the schema of the body. The field is undefined when the operation has no body. */
  body: string | undefined;
  /** The path of the operation, with an example id in place of `{id}`. */
  path: string;
  /** The methods that the path supports. */
  methods: readonly string[];
  /** Whether the path contains the id of a plant. */
  namesPlant: boolean;
  /** The scope that a token needs for the operation. */
  scope: Scope | 'none';
}

/** Makes a response for every error status that the server can send for an operation. */
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

/** The errors that only a request with a body can get. */
const onlyWithBody: ReadonlySet<ErrorKind> = new Set([
  'bodyNotJson',
  'bodyTooLarge',
  'unsupportedMediaType',
]);

/** The only path whose operation takes a cursor of the feed. */
const changesPath = operations.listPlantChanges.path;

function canHave({ body, path, namesPlant, scope }: Operation, kind: ErrorKind): boolean {
  if (kind === 'cursorExpired') return path === changesPath;
  if (kind === 'plantUnknown') return namesPlant;
  if (kind === 'idTaken') return body === 'NewPlant';
  if (kind === 'insufficientScope') return scope !== 'none';
  return body !== undefined || !onlyWithBody.has(kind);
}

function describe(status: string, group: ErrorKind[], operation: Operation): string {
  const lines = group.map((kind) => `${errorCatalogue[kind].code}: ${when(kind, operation)}`);
  return `${status === '400' ? 'Unexpected error. ' : ''}${lines.join('; ')}`;
}

function when(kind: ErrorKind, { body }: Operation): string {
  if (kind !== 'invalidInput') return errorCatalogue[kind].when;
  return body === undefined ? 'a parameter is not valid' : `the body is not a valid ${body}`;
}

function headersOf(status: string, group: ErrorKind[]): object {
  const isLimited = group.some((kind) => !beforeRateLimit.has(kind));
  return { ...requestId, ...(isLimited && rateLimit), ...headersByStatus[status] };
}

/** The server sends these errors before the rate limit counts the request. */
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

/** Makes the example messages that differ between operations. */
function exampleFor(operation: Operation): Partial<Record<ErrorKind, string>> {
  const { body, path, methods, scope } = operation;
  return {
    insufficientScope: `the access token lacks the scope ${scope}: use a token that has it`,
    methodNotAllowed: `${path} takes ${methods.join(', ')}, not PUT`,
    ...(body !== 'NewPlant' && {
      invalidInput: `invalid input: ${invalidExample(operation)}`,
      databaseUnavailable: 'the database did not respond: try again',
      plantRejected:
        'row-level security or a rule in the database prevents this (SQLSTATE 42501): nothing was written, tell the operator before you send it again',
    }),
    ...(scope === 'plants:delete' && {
      databaseUnavailable:
        'the database did not respond: the plant may or may not be deleted, look it up before you send the delete again',
      plantRejected:
        'the table keeps this plant: nothing was written, tell the operator before you send it again',
    }),
  };
}

function invalidExample({ body, path, namesPlant }: Operation): string {
  if (body !== undefined) return 'plants[3].name is missing: it must be a string';
  if (namesPlant) return 'id must be a whole number';
  return path === '/plants' || path === changesPath
    ? 'limit must be an integer from 1 to 1000'
    : 'it has no parameter "limit"';
}

const retryAfter = { 'Retry-After': requiredHeader('Seconds after which to try again') };

const headersByStatus: Record<string, object> = {
  401: { 'WWW-Authenticate': requiredHeader('The challenge of RFC 6750') },
  403: { 'WWW-Authenticate': requiredHeader('The challenge of RFC 6750') },
  405: { Allow: requiredHeader('The methods of this path') },
  415: {
    'Accept-Encoding': header(
      'The content codings that a body may have; sent when the request has another coding',
    ),
  },
  429: retryAfter,
  503: retryAfter,
};
