import { type ErrorKind, errorCatalogue, errorKinds, httpStatus } from '@plant-store/schemas';
import { errorExamples } from '../errors/error-examples.ts';
import { header, rateLimit, requestId, requiredHeader } from './reply-headers.ts';

/** The responses of every error status that the server can send, with its error codes. */
export function errorResponses(): Record<string, object> {
  const byStatus = Object.entries(Object.groupBy(errorKinds, httpStatus));
  return Object.fromEntries(
    byStatus.map(([status, group = []]) => [
      status,
      {
        description: describe(status, group),
        headers: headersOf(status, group),
        content: {
          'application/json': {
            schema: { $ref: '#/components/schemas/Error' },
            examples: Object.fromEntries(group.map(example)),
          },
        },
      },
    ]),
  );
}

function describe(status: string, group: ErrorKind[]): string {
  const lines = group.map((kind) => `${errorCatalogue[kind].code}: ${errorCatalogue[kind].when}`);
  return `${status === '400' ? 'Unexpected error. ' : ''}${lines.join('; ')}`;
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

function example(kind: ErrorKind): [name: string, example: object] {
  const { code, when } = errorCatalogue[kind];
  return [kind, { summary: when, value: { error: code, message: errorExamples[kind] } }];
}

const retryAfter = { 'Retry-After': requiredHeader('Seconds after which to try again') };

const headersByStatus: Record<string, object> = {
  401: { 'WWW-Authenticate': requiredHeader('The challenge of RFC 6750') },
  405: { Allow: requiredHeader('The methods of this path') },
  415: {
    'Accept-Encoding': header(
      'The content codings that a body may have; sent when that of the request is another',
    ),
  },
  429: retryAfter,
  503: retryAfter,
};
