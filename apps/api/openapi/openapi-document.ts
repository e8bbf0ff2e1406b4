import { readFileSync } from 'node:fs';
import { STATUS_CODES } from 'node:http';
import type { Procedure } from '@plant-store/core/internal';
import { procedures as allProcedures, appRouter } from '@plant-store/core/router';
import { type Deprecation, ErrorBody, Plant } from '@plant-store/schemas';
import type { AnyTRPCRouter } from '@trpc/server';
import { generateOpenApiDocument, type OpenAPIObject } from 'trpc-to-openapi';
import { addExample } from './body-examples.ts';
import { errorResponses } from './error-responses.ts';
import { eventContent, lastEventId } from './event-content.ts';
import { introduction } from './introduction.ts';
import { deprecated, ending, rateLimit, requestId, sharedHeaders } from './response-headers.ts';
import { webhooks } from './webhooks.ts';

type PathItem = NonNullable<OpenAPIObject['paths']>[string];
type Operation = NonNullable<PathItem['post']>;
type Components = NonNullable<OpenAPIObject['components']>;
type Schemas = NonNullable<Components['schemas']>;
type Responses = NonNullable<Components['responses']>;

// The document and the packages have the same version.
const { version }: { version: string } = JSON.parse(
  readFileSync(new URL('../../../packages/schemas/package.json', import.meta.url), 'utf8'),
);

/**
 * Makes the OpenAPI 3.1 document of the REST surface. Corrects the document of trpc-to-openapi, which inlines
 * named bodies, repeats the default security, and describes errors that the server never sends.
 */
export function openApiDocument(
  router: AnyTRPCRouter = appRouter,
  procedures: Readonly<Record<string, Procedure>> = allProcedures,
): OpenAPIObject {
  const document = generateOpenApiDocument(router, {
    title: 'Plant store sample',
    version,
    description: introduction,
    contact: { name: 'The operator of this store' },
    license: { name: 'MIT', identifier: 'MIT' },
    // This URL works behind a path prefix, because this URL is relative to the document's URL (RFC 3986).
    baseUrl: '.',
    securitySchemes: {
      bearerAuth: { type: 'http', scheme: 'bearer', description: 'An access token of the store' },
    },
    defs: { Plant, Error: ErrorBody },
  });
  const schemas: Schemas = { ...document.components?.schemas };
  for (const name of Object.keys(schemas)) if (name.startsWith('error.')) delete schemas[name];
  for (const [path, operation] of operationsOf(document)) {
    const {
      scope = 'none',
      openapi,
      events,
    } = procedures[operation.operationId ?? '']?.definition.meta ?? {};
    if (events) addEvents(operation);
    correct(operation, schemas, {
      path: path.replace('{id}', '1'),
      scope,
      status: openapi?.status ?? 200,
    });
    addExample(operation.requestBody, schemas);
    addExample(operation.responses?.[openapi?.status ?? 200], schemas);
    if (openapi?.deprecation) deprecate(operation, openapi.deprecation);
  }
  const corrected = {
    ...document,
    security: [{ bearerAuth: [] }],
    tags: [
      { name: 'plants', description: 'The plants in the store' },
      { name: 'tokens', description: 'The access tokens of the store' },
    ],
    components: {
      ...document.components,
      schemas,
      responses: shareResponses(operationsOf(document).map(([, operation]) => operation)),
      headers: sharedHeaders,
    },
    webhooks,
  };
  allowFurtherProperties(corrected);
  return corrected;
}

function operationsOf({ paths = {} }: OpenAPIObject): [path: string, Operation][] {
  return Object.entries(paths).flatMap(([path, { get, post, put, patch, delete: remove }]) =>
    [get, post, put, patch, remove].flatMap((each): [string, Operation][] =>
      each ? [[path, each]] : [],
    ),
  );
}

/**
 * Returns the responses that most operations have, under the names of their statuses. In the operations,
 * replaces these responses with references.
 */
function shareResponses(operations: Operation[]): Responses {
  const all = operations.flatMap(({ responses = {} }) => Object.entries(responses));
  const counts = Object.groupBy(all, (response) => JSON.stringify(response));
  const shared: Responses = {};
  for (const { responses = {} } of operations) {
    for (const [status, response] of Object.entries(responses)) {
      const { length = 0 } = counts[JSON.stringify([status, response])] ?? [];
      if (length <= operations.length / 2) continue;
      const name = STATUS_CODES[status]?.replaceAll(' ', '') ?? 'OtherError';
      shared[name] = response;
      responses[status] = { $ref: `#/components/responses/${name}` };
    }
  }
  return shared;
}

function correct(
  operation: Operation,
  schemas: Schemas,
  {
    status,
    ...facts
  }: { status: number } & Pick<Parameters<typeof errorResponses>[0], 'path' | 'scope'>,
): void {
  delete operation.security;
  if (operation.parameters?.length === 0) delete operation.parameters;
  operation.parameters?.forEach(correctParameter);
  const namesPlant = Boolean(
    operation.parameters?.some((parameter) => Object(parameter).in === 'path'),
  );
  const { content } = (operation.requestBody ?? {}) as { content?: Content }; // trpc-to-openapi inlines the body.
  const media = content?.['application/json'];
  // An inlined schema keeps its title. The title is the name of the schema's component.
  const body = media?.schema.title;
  operation.responses = {
    ...successOf(operation, status),
    ...errorResponses({ ...facts, body, namesPlant }),
  };
  if (!media || !body) return;
  for (const property of Object.values(media.schema.properties ?? {})) {
    const { items } = property;
    if (!items?.title) continue;
    schemas[items.title] = items;
    property.items = { $ref: `#/components/schemas/${items.title}` };
  }
  schemas[body] = media.schema;
  media.schema = { $ref: `#/components/schemas/${body}` };
}

/** Declares the events that a client can request instead of JSON. */
function addEvents({ parameters, responses }: Operation): void {
  parameters?.push(lastEventId);
  Object.assign(responses?.['200'].content, eventContent);
}

/** Returns the successful response, for which trpc-to-openapi always writes the status 200. */
function successOf({ responses }: Operation, status: number): object {
  const { content, ...success } = Object(responses?.['200']);
  const headers = { ...requestId, ...rateLimit };
  return { [status]: { ...success, ...(status !== 204 && { content }), headers } };
}

/** Marks an operation as deprecated, and declares the headers of its successful response. */
function deprecate(operation: Operation, { sunset }: Deprecation): void {
  operation.deprecated = true;
  const [success] = Object.values(operation.responses ?? {});
  Object.assign(success.headers, deprecated, sunset !== undefined && ending);
}

/** Moves description and examples to the parameter, where tools look for them. */
function correctParameter(parameter: object): void {
  const { schema } = parameter as { schema: { description?: string; examples?: unknown[] } }; // Inlined.
  const { description, examples, ...bounds } = schema;
  Object.assign(parameter, { description, example: examples?.[0], schema: bounds });
}

type Content = Record<string, { schema: Inline | Reference }>;
type Inline = { title?: string; properties?: Record<string, Property> };
type Property = { items?: Inline | Reference };
type Reference = { $ref: string; title?: never; properties?: never };

/** Allows additional properties in all objects, because later versions may add properties. */
function allowFurtherProperties(part: unknown): void {
  if (typeof part !== 'object' || part === null) return;
  if ('additionalProperties' in part && part.additionalProperties === false) {
    delete part.additionalProperties;
  }
  Object.values(part).forEach(allowFurtherProperties);
}
