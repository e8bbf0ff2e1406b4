import { readFileSync } from 'node:fs';
import { STATUS_CODES } from 'node:http';
import type { Procedure } from '@plant-store/core/internal';
import { procedures as allProcedures, appRouter } from '@plant-store/core/router';
import { ErrorBody, Plant } from '@plant-store/schemas';
import type { AnyTRPCRouter } from '@trpc/server';
import { generateOpenApiDocument, type OpenAPIObject } from 'trpc-to-openapi';
import { addExample } from './body-examples.ts';
import { errorResponses } from './error-responses.ts';
import { etag, ifMatch, ifNoneMatch } from './etag-headers.ts';
import { eventContent, lastEventId } from './event-content.ts';
import { introduction } from './introduction.ts';
import { rateLimit, requestId, sharedHeaders } from './response-headers.ts';
import { webhookParameters, webhooks } from './webhooks.ts';

type PathItem = NonNullable<OpenAPIObject['paths']>[string];
type Operation = NonNullable<PathItem['post']>;
type Parameter = NonNullable<Operation['parameters']>[number];
type Components = NonNullable<OpenAPIObject['components']>;
type Schemas = NonNullable<Components['schemas']>;
type Responses = NonNullable<Components['responses']>;

// The document and the packages have the same version.
const { version }: { version: string } = JSON.parse(
  readFileSync(new URL('../../../packages/schemas/package.json', import.meta.url), 'utf8'),
);

/**
 * Makes the OpenAPI 3.1 document of the REST surface. trpc-to-openapi inlines named bodies, repeats the
 * default security, and adds errors that the server never sends. This function corrects the document.
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
    // An API address that is relative to the document's URL (RFC 3986) also works behind a path prefix.
    baseUrl: '.',
    securitySchemes: {
      bearerAuth: { type: 'http', scheme: 'bearer', description: 'An access token of the store' },
    },
    defs: { Plant, Error: ErrorBody },
  });
  const schemas: Schemas = { ...document.components?.schemas };
  for (const name of Object.keys(schemas)) if (name.startsWith('error.')) delete schemas[name];
  for (const operation of operationsOf(document)) {
    const name = operation.operationId ?? '';
    const { scope = 'none', openapi, events } = procedures[name]?.definition.meta ?? {};
    if (events) addEvents(operation);
    useConditions(operation);
    correct(operation, schemas, { name, scope, status: openapi?.status ?? 200 });
    addExample(operation.requestBody, schemas);
    addExample(operation.responses?.[openapi?.status ?? 200], schemas);
  }
  const corrected = {
    ...document,
    security: [{ bearerAuth: [] }],
    tags: [
      { name: 'plants', description: 'The plants in the store' },
      { name: 'tokens', description: 'The access tokens of the store' },
      { name: 'webhooks', description: 'The endpoints that get each change by HTTP' },
    ],
    components: {
      ...document.components,
      schemas,
      responses: shareResponses(operationsOf(document)),
      headers: sharedHeaders,
      parameters: webhookParameters,
    },
    webhooks,
  };
  allowFurtherProperties(corrected);
  return corrected;
}

function operationsOf({ paths = {} }: OpenAPIObject): Operation[] {
  return Object.values(paths).flatMap(({ get, post, put, patch, delete: remove }) =>
    [get, post, put, patch, remove].filter((each) => each !== undefined),
  );
}

/** Replaces the most frequent response of each status with a reference. Returns these responses by name. */
function shareResponses(operations: Operation[]): Responses {
  const all = operations.flatMap(({ responses = {} }) =>
    Object.entries(responses).map(([status, response]) => ({ status, response, responses })),
  );
  const groups = Object.groupBy(all, ({ status, response }) => JSON.stringify([status, response]));
  const shared: Responses = {};
  for (const group of Object.values(groups).toSorted((a = [], b = []) => b.length - a.length)) {
    const [first, ...others] = group ?? [];
    const name = STATUS_CODES[first?.status ?? '']?.replaceAll(' ', '') ?? 'OtherError';
    if (!first || others.length === 0 || shared[name]) continue;
    shared[name] = first.response;
    for (const { status, responses } of [first, ...others]) {
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
  }: { status: number } & Pick<Parameters<typeof errorResponses>[0], 'name' | 'scope'>,
): void {
  delete operation.security;
  if (operation.parameters?.length === 0) delete operation.parameters;
  if (operation.parameters) operation.parameters = operation.parameters.map(correctParameter);
  // trpc-to-openapi inlines the body's schema. The title of this schema is the name of the body.
  const { content } = (operation.requestBody ?? {}) as { content?: Content };
  const media = content?.['application/json'];
  const body = media?.schema.title ?? media?.schema.$ref?.split('/').at(-1);
  const { 304: unchanged } = operation.responses ?? {};
  operation.responses = {
    ...successOf(operation, status),
    ...(unchanged && { 304: unchanged }),
    ...errorResponses({ ...facts, body }),
  };
  if (!media?.schema.title || !body) return;
  for (const property of Object.values(media.schema.properties ?? {})) {
    const { items } = property;
    if (!items?.title) continue;
    schemas[items.title] = items;
    property.items = { $ref: `#/components/schemas/${items.title}` };
  }
  schemas[body] = media.schema;
  media.schema = { $ref: `#/components/schemas/${body}` };
}

/**
 * Declares the ETag of a plant as a header. Over tRPC, it is a property of the input (`ifMatch`) and of the
 * output (`etag`).
 */
function useConditions(operation: Operation): void {
  const { parameters = [], requestBody, responses } = operation;
  const media = mediaOf(requestBody);
  const isCondition = (parameter: object) => Object(parameter).name === 'ifMatch';
  const hasCondition = parameters.some(isCondition) || media?.schema.properties?.['ifMatch'];
  operation.parameters = parameters.filter((parameter) => !isCondition(parameter));
  if (hasCondition) operation.parameters.push(ifMatch);
  if (media?.schema.title === 'ReplacePlant') media.schema = reference('Plant');
  const output = mediaOf(responses?.['200']);
  if (output?.schema.title !== 'PlantWithEtag') return;
  output.schema = reference('StoredPlant');
  Object.assign(responses?.['200'], { headers: etag });
  if (operation.operationId === 'getPlant') {
    operation.parameters.push(ifNoneMatch);
    Object.assign(responses ?? {}, {
      304: { description: 'The plant has this ETag', headers: etag },
    });
  }
}

const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });

function mediaOf(message: unknown): { schema: Inline | Reference } | undefined {
  return Object(message).content?.['application/json'];
}

/** Declares the events that a client can request instead of JSON. */
function addEvents({ parameters, responses }: Operation): void {
  parameters?.push(lastEventId);
  Object.assign(responses?.['200'].content, eventContent);
}

/** Returns the successful response under `status`, because trpc-to-openapi always writes the status 200. */
function successOf({ responses }: Operation, status: number): object {
  const { content, headers: own, ...success } = Object(responses?.['200']);
  const headers = { ...requestId, ...rateLimit, ...own };
  return { [status]: { ...success, ...(status !== 204 && { content }), headers } };
}

/** Moves the description and the example from the schema to the parameter, because tools look there. */
function correctParameter(parameter: Parameter): Parameter {
  const { schema } = parameter as { schema: { description?: string; examples?: unknown[] } }; // Inlined.
  const { description, examples, ...bounds } = schema;
  const [example] = examples ?? [];
  return { ...parameter, schema: bounds, ...(description && { description }), example };
}

type Content = Record<string, { schema: Inline | Reference }>;
type Inline = { $ref?: never; title?: string; properties?: Record<string, Property> };
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
