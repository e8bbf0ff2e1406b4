import { readFileSync } from 'node:fs';
import type { Procedure } from '@plant-store/core/internal';
import { procedures as allProcedures, appRouter } from '@plant-store/core/router';
import { ErrorBody, int64Bounds, Plant } from '@plant-store/schemas';
import type { AnyTRPCRouter } from '@trpc/server';
import { generateOpenApiDocument, type OpenAPIObject } from 'trpc-to-openapi';
import { errorResponses } from './error-responses.ts';
import { introduction } from './introduction.ts';
import { rateLimit, requestId, sharedHeaders } from './response-headers.ts';
import { webhooks } from './webhooks.ts';

type PathItem = NonNullable<OpenAPIObject['paths']>[string];
type Operation = NonNullable<PathItem['post']>;
type Schemas = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>;

// The document and the packages have the same version.
const { version }: { version: string } = JSON.parse(
  readFileSync(new URL('../../../packages/schemas/package.json', import.meta.url), 'utf8'),
);

/**
 * Makes the OpenAPI 3.1 document of the REST surface. Corrects the document of trpc-to-openapi, which inlines
 * named bodies, repeats the default security, and describes errors that the server never sends.
 *
 * The bounds of ids are `bigint`s. Write the document with `formatJson`, which keeps all digits of a
 * `bigint`.
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
    const { scope = 'none', openapi } =
      procedures[operation.operationId ?? '']?.definition.meta ?? {};
    correct(operation, schemas, {
      path: path.replace('{id}', '1'),
      methods: methodsOf(document, path),
      scope,
      status: openapi?.status ?? 200,
    });
  }
  const corrected = {
    ...document,
    security: [{ bearerAuth: [] }],
    tags: [
      { name: 'plants', description: 'The plants in the store' },
      { name: 'tokens', description: 'The access tokens of the store' },
    ],
    components: { ...document.components, schemas, headers: sharedHeaders },
    webhooks,
  };
  correctSchemas(corrected);
  return corrected;
}

function operationsOf({ paths = {} }: OpenAPIObject): [path: string, Operation][] {
  return Object.entries(paths).flatMap(([path, { get, post, put, patch, delete: remove }]) =>
    [get, post, put, patch, remove].flatMap((each): [string, Operation][] =>
      each ? [[path, each]] : [],
    ),
  );
}

/** Returns the methods of a path. The methods of `/plants/count` include the methods of `/plants/{id}`. */
function methodsOf({ paths = {} }: OpenAPIObject, path: string): string[] {
  const matching = Object.entries(paths).filter(([template]) =>
    new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
  );
  const methods = matching.flatMap(([, item]) =>
    Object.keys(item).map((name) => name.toUpperCase()),
  );
  if (methods.includes('GET')) methods.push('HEAD');
  return [...new Set(methods)].toSorted();
}

function correct(
  operation: Operation,
  schemas: Schemas,
  {
    status,
    ...facts
  }: { status: number } & Pick<Parameters<typeof errorResponses>[0], 'path' | 'methods' | 'scope'>,
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
  media.example = exampleOf(media.schema);
  for (const property of Object.values(media.schema.properties ?? {})) {
    const { items } = property;
    if (!items?.title) continue;
    schemas[items.title] = items;
    property.items = { $ref: `#/components/schemas/${items.title}` };
  }
  schemas[body] = media.schema;
  media.schema = { $ref: `#/components/schemas/${body}` };
}

/** Returns the successful response, for which trpc-to-openapi always writes the status 200. */
function successOf({ responses }: Operation, status: number): object {
  const { content, ...success } = Object(responses?.['200']);
  const headers = { ...requestId, ...rateLimit };
  return { [status]: { ...success, ...(status !== 204 && { content }), headers } };
}

/** Moves description and examples to the parameter, where tools look for them. */
function correctParameter(parameter: object): void {
  const { schema } = parameter as { schema: { description?: string; examples?: unknown[] } }; // Inlined.
  const { description, examples, ...bounds } = schema;
  Object.assign(parameter, { description, example: examples?.[0], schema: bounds });
}

type Content = Record<string, { schema: Inline | Reference; example?: unknown }>;
type Inline = { title?: string; properties?: Record<string, Property> };
type Property = { examples?: unknown[]; items?: Inline | Reference };
type Reference = { $ref: string; title?: never; properties?: never };

/** Makes an example of a body from the first example of each field. A list has one element. */
function exampleOf({ properties = {} }: Inline | Reference): unknown {
  const examples = Object.entries(properties).map(([name, { examples, items }]) => [
    name,
    items ? [exampleOf(items)] : examples?.[0],
  ]);
  return Object.fromEntries(examples.filter(([, example]) => example !== undefined));
}

/**
 * Adds the bounds of every int64, because our libraries cannot write these bounds exactly. Allows further
 * properties in objects, because later versions may add properties.
 */
function correctSchemas(part: unknown): void {
  if (typeof part !== 'object' || part === null) return;
  if ('format' in part && part.format === 'int64') Object.assign(part, int64Bounds);
  if ('additionalProperties' in part && part.additionalProperties === false) {
    delete part.additionalProperties;
  }
  Object.values(part).forEach(correctSchemas);
}
