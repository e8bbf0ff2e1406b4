import { appRouter } from '@plant-store/core/router';
import {
  ErrorBody,
  type ErrorKind,
  errorCatalogue,
  errorKinds,
  httpStatus,
  Plant,
} from '@plant-store/schemas';
import { generateOpenApiDocument, type OpenAPIObject } from 'trpc-to-openapi';
import { errorExamples } from '../errors/error-examples.ts';

type PathItem = NonNullable<OpenAPIObject['paths']>[string];
type Operation = NonNullable<PathItem['post']>;
type Schemas = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>;

/**
 * The OpenAPI 3.1 document of the REST surface, made by trpc-to-openapi. Corrected afterwards: it
 * inlines bodies that have a name, repeats the default security, and describes errors that this
 * server does not send.
 */
export function openApiDocument(): OpenAPIObject {
  const document = generateOpenApiDocument(appRouter, {
    title: 'Plant store sample',
    version: '1.0.0',
    description: 'What each error means is at [/docs/errors](/docs/errors).',
    license: { name: 'MIT', identifier: 'MIT' },
    baseUrl: '/',
    securitySchemes: {
      bearerAuth: { type: 'http', scheme: 'bearer', description: 'An access token of the store' },
    },
    defs: { Plant, Error: ErrorBody },
  });
  const schemas: Schemas = { ...document.components?.schemas };
  for (const name of Object.keys(schemas)) if (name.startsWith('error.')) delete schemas[name];
  for (const operation of operationsOf(document)) correct(operation, schemas);

  return {
    ...document,
    security: [{ bearerAuth: [] }],
    tags: [{ name: 'plants', description: 'The plants in the store' }],
    components: { ...document.components, schemas },
  };
}

function operationsOf({ paths = {} }: OpenAPIObject): Operation[] {
  return Object.values(paths).flatMap(({ get, post, put, patch, delete: remove }) =>
    [get, post, put, patch, remove].filter((operation) => operation !== undefined),
  );
}

function correct(operation: Operation, schemas: Schemas): void {
  delete operation.security;
  if (operation.parameters?.length === 0) delete operation.parameters;
  operation.responses = {
    200: { ...operation.responses?.['200'], headers: requestId },
    ...errorResponses(),
  };

  // An inlined schema keeps its title, which is the name of its component.
  const { content } = (operation.requestBody ?? {}) as { content?: Content }; // trpc-to-openapi inlines it.
  const media = content?.['application/json'];
  const name = media?.schema.title;
  if (!media || !name) return;
  schemas[name] = media.schema;
  media.schema = { $ref: `#/components/schemas/${name}` };
}

type Content = Record<string, { schema: { title?: string } | { $ref: string; title?: never } }>;

/** Every error status that the server can send, with its error codes. */
function errorResponses(): Record<string, object> {
  const byStatus = Object.entries(Object.groupBy(errorKinds, httpStatus));
  return Object.fromEntries(
    byStatus.map(([status, group = []]) => [
      status,
      {
        description: describe(status, group),
        headers: { ...requestId, ...headersByStatus[status] },
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

function example(kind: ErrorKind): [name: string, example: object] {
  const { code, when } = errorCatalogue[kind];
  return [kind, { summary: when, value: { error: code, message: errorExamples[kind] } }];
}

const header = (description: string) => ({ description, schema: { type: 'string' } });

const requestId = {
  'X-Request-Id': header(
    'The id of the request in the log: the one that the client sent, or a new one',
  ),
};

const retryAfter = { 'Retry-After': header('Seconds after which to try again') };

const headersByStatus: Record<string, object> = {
  401: { 'WWW-Authenticate': header('The challenge of RFC 6750') },
  405: { Allow: header('The methods of this path') },
  429: retryAfter,
  503: retryAfter,
};
