import {
  type ErrorKind,
  errorCatalogue,
  errorKinds,
  httpStatus,
  type Scope,
} from '@plant-store/schemas';
import { errorExamples } from './error-examples.ts';
import { header, integer, rateLimit, requestId, requiredHeader } from './response-headers.ts';

interface Operation {
  name: string;
  /** The name of the body's schema, or undefined when the operation has no body. */
  body: string | undefined;
  scope: Scope | 'none';
}

/** Makes the error responses of an operation, one for each status. All `otherStatuses` share one response. */
export function errorResponses(operation: Operation): Record<string, object> {
  const kinds = errorKinds.filter((kind) => canHave(operation, kind));
  const byStatus = Object.groupBy(kinds, (kind) =>
    otherStatuses.has(httpStatus(kind)) ? 'default' : httpStatus(kind),
  );
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, group = []]) => [
      status,
      {
        description: describe(status, group, operation),
        headers: { ...requestId, ...headersOf(status, group) },
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

/** Every operation can have errors with these statuses. The response `default` describes these errors. */
const otherStatuses: ReadonlySet<number> = new Set([405, 408, 415, 417, 431, 500, 501]);

const onlyWithBody: ReadonlySet<ErrorKind> = new Set(['bodyNotJson', 'bodyTooLarge']);

function canHave({ name, body, scope }: Operation, kind: ErrorKind): boolean {
  const entry = errorCatalogue[kind];
  if ('only' in entry) return entry.only.some((each) => each === name);
  if (kind === 'insufficientScope') return scope !== 'none';
  return body !== undefined || !onlyWithBody.has(kind);
}

function describe(status: string, group: ErrorKind[], operation: Operation): string {
  const lines = group.map((kind) => `${errorCatalogue[kind].code}: ${when(kind, operation)}`);
  const start = { 400: 'Unexpected error. ', default: 'Other errors. ' }[status] ?? '';
  return `${start}${lines.join('; ')}`;
}

function when(kind: ErrorKind, { body }: Operation): string {
  if (kind !== 'invalidInput') return errorCatalogue[kind].when;
  return body === undefined ? 'a parameter is not valid' : `the body is not a valid ${body}`;
}

function headersOf(status: string, group: ErrorKind[]): object {
  const isLimited = group.some((kind) => kind !== 'malformedRequest' && kind !== 'pathUnknown');
  return { ...(isLimited && rateLimit), ...headersByStatus[status] };
}

function example(kind: ErrorKind, operation: Operation): object {
  const message = exampleFor(operation)[kind] ?? errorExamples[kind];
  const value = { error: errorCatalogue[kind].code, message };
  return { summary: when(kind, operation), value };
}

/** Returns the example messages of the errors whose message depends on the operation. */
function exampleFor(operation: Operation): Partial<Record<ErrorKind, string>> {
  const { body, scope } = operation;
  return {
    ...(body !== 'NewPlant' && {
      invalidInput: `invalid input: ${invalidExample(operation)}`,
      databaseUnavailable: 'the database did not respond: try again',
    }),
    ...(scope === 'plants:delete' && {
      databaseUnavailable:
        'the database did not respond: the plant may or may not be deleted, look it up before you send the delete again',
    }),
  };
}

function invalidExample({ body }: Operation): string {
  if (body === 'NewPlants') return 'plants[3].name is missing: it must be a string';
  if (body === 'NewAccessToken') return 'expiresAt must be in the future';
  return 'it has no parameter "size"';
}

const retryAfter = {
  'Retry-After': { ...requiredHeader('Seconds after which to try again'), schema: integer },
};

const headersByStatus: Record<string, object> = {
  401: { 'WWW-Authenticate': requiredHeader('The challenge of RFC 6750') },
  403: { 'WWW-Authenticate': requiredHeader('The challenge of RFC 6750') },
  429: retryAfter,
  503: retryAfter,
  default: {
    Allow: header('The methods of this path; sent with 405'),
    'Accept-Encoding': header(
      'The content codings that a body may have; sent with 415 when the request has another coding',
    ),
  },
};
