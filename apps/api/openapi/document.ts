import { readFileSync } from 'node:fs';
import { procedures as allProcedures, appRouter } from '@plant-store/core/router';
import { ErrorBody, errorCatalogue, errorKinds, httpStatus, Plant } from '@plant-store/schemas';
import { generateOpenApiDocument, type OpenAPIObject } from 'trpc-to-openapi';
import {
  conditions,
  etag,
  events,
  headers,
  headersByStatus,
  introduction,
  resumeEvents,
  webhooks,
} from './parts.ts';

// The document and the packages have the same version.
const { version }: { version: string } = JSON.parse(
  readFileSync(new URL('../../../packages/schemas/package.json', import.meta.url), 'utf8'),
);

/** The parts of a document that this file changes. */
interface Operation {
  operationId: keyof typeof allProcedures;
  security?: unknown;
  summary: string;
  tags: string[];
  parameters?: Parameter[];
  requestBody?: Message;
  responses: Record<string, Message & { headers?: object }>;
}

interface Parameter {
  name: string;
  schema: Schema;
}

interface Message {
  content?: { 'application/json': { schema: Schema } };
}

interface Schema {
  $ref?: string;
  type?: unknown;
  title?: string;
  description?: string;
  examples?: unknown[];
  properties?: Record<string, Schema>;
  items?: Schema;
}

/**
 * Makes the OpenAPI 3.1 document of the REST surface. trpc-to-openapi inlines named bodies, repeats the
 * default security, and adds errors that the server never sends. This function corrects the document.
 */
export function openApiDocument(): OpenAPIObject {
  const { paths, components, ...document } = generateOpenApiDocument(appRouter, {
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
  const schemas: Record<string, unknown> = { ...components?.schemas };
  for (const name of Object.keys(schemas)) if (name.startsWith('error.')) delete schemas[name];
  const responses: Record<string, object> = {};
  // The interfaces above are narrower than those of trpc-to-openapi, whose documents have no references here.
  const items = Object.values(paths ?? {}) as unknown as Record<string, Operation>[];
  for (const item of items) {
    for (const operation of Object.values(item)) correct(operation, schemas, responses);
    const { get } = item;
    if (get) item['head'] = headOf(get);
  }
  const corrected = {
    ...document,
    paths,
    security: [{ bearerAuth: [] }],
    tags: [
      { name: 'plants', description: 'The plants in the store' },
      { name: 'tokens', description: 'The access tokens of the store' },
      { name: 'webhooks', description: 'The endpoints that get each change by HTTP' },
    ],
    components: { ...components, schemas, responses, headers },
    webhooks,
  };
  allowFurtherProperties(corrected);
  return corrected as OpenAPIObject;
}

function correct(
  operation: Operation,
  schemas: Record<string, unknown>,
  responses: Record<string, object>,
): void {
  const { meta } = allProcedures[operation.operationId].definition;
  const status = meta.openapi?.status ?? 200;
  const given = operation.parameters ?? [];
  const [body, output] = [mediaOf(operation.requestBody), mediaOf(operation.responses[200])];

  // Over tRPC, the ETag is a property of the input (`ifMatch`) and of the output (`etag`).
  const isConditional = given.some(isIfMatch) || body?.schema.properties?.['ifMatch'];
  const hasEtag = output?.schema.title === 'PlantWithEtag';
  const isRead = hasEtag && !body;
  const parameters = [
    ...given.filter((each) => !isIfMatch(each)).map(correctParameter),
    ...(isConditional ? [conditions.ifMatch] : []),
    ...(isRead ? [conditions.ifNoneMatch] : []),
    ...(meta.events ? resumeEvents : []),
  ];
  delete operation.parameters;
  if (parameters.length > 0) operation.parameters = parameters;
  delete operation.security;

  for (const media of [body, output]) if (media) media.schema = named(media.schema, schemas);
  const { content, ...success } = { ...operation.responses[200] };
  operation.responses = {
    [status]: {
      ...success,
      ...(status !== 204 && { content: { ...content, ...(meta.events && events) } }),
      headers: { ...headersByStatus('200'), ...(hasEtag && etag) },
    },
    ...(isRead && { 304: { description: 'The plant has this ETag', headers: etag } }),
    ...errorsOf(operation, responses),
  } as Operation['responses'];
}

function mediaOf(message?: Message) {
  return message?.content?.['application/json'];
}

const isIfMatch = ({ name }: Parameter) => name === 'ifMatch';

/** Moves the description and the example from the schema to the parameter, because tools look there. */
function correctParameter(parameter: Parameter): Parameter {
  const { description, examples = [], ...schema } = parameter.schema;
  const [example] = examples;
  return {
    ...parameter,
    schema,
    ...(description && { description }),
    ...(examples.length > 0 && { example }),
  };
}

/** Over REST, the ETag is a header, so these bodies are the same as others. */
const bodies: Record<string, string> = { PlantWithEtag: 'StoredPlant', ReplacePlant: 'Plant' };

/** Replaces an inlined schema by a reference to its name, which is its title. */
function named(schema: Schema, schemas: Record<string, unknown>): Schema {
  const { title } = schema;
  if (!title) return schema;
  const name = bodies[title] ?? title;
  if (name === title) schemas[name] = schema;
  for (const property of Object.values(schema.properties ?? {})) {
    if (property.items) property.items = named(property.items, schemas);
  }
  return reference('schemas', name);
}

const reference = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` });

function headOf({ operationId, summary, responses, ...get }: Operation) {
  const withoutBody = Object.entries(responses).map(([status, response]) => {
    const { content, ...head } = response;
    return [status, head];
  });
  return {
    ...get,
    operationId: `${operationId}Head`,
    summary: `${summary}: only the headers`,
    responses: Object.fromEntries(withoutBody),
  } as unknown as Operation;
}

/** Every operation can have errors with these statuses. The response `default` describes these errors. */
const otherStatuses: ReadonlySet<number> = new Set([405, 408, 415, 417, 431, 500, 501]);

/** Adds the error responses of an operation to the shared responses, and returns references to them. */
function errorsOf({ operationId, requestBody }: Operation, responses: Record<string, object>) {
  const { scope } = allProcedures[operationId].definition.meta;
  const kinds = errorKinds.filter((kind) => {
    const entry = errorCatalogue[kind];
    if ('only' in entry) return entry.only.some((name) => name === operationId);
    if (kind === 'insufficientScope') return scope !== 'none';
    return requestBody || !['bodyNotJson', 'bodyTooLarge'].includes(kind);
  });
  const byStatus = Object.groupBy(kinds, (kind) =>
    otherStatuses.has(httpStatus(kind)) ? 'default' : String(httpStatus(kind)),
  );
  const references = Object.entries(byStatus).map(([status, group = []]) => {
    const errors = group.map((kind) => ({ kind, ...errorCatalogue[kind] }));
    const name = status === 'default' ? 'Others' : errors.map(({ code }) => code).join('Or');
    const start = { 400: 'Unexpected error. ', default: 'Other errors. ' }[status] ?? '';
    const examples = errors.map(({ kind, code, when, advice }) => [
      kind,
      { summary: when, value: { error: code, message: `${when}: ${advice}` } },
    ]);
    responses[`Error${name}`] = {
      description: start + errors.map(({ code, when }) => `${code}: ${when}`).join('; '),
      headers: headersByStatus(status),
      content: {
        'application/json': {
          schema: reference('schemas', 'Error'),
          examples: Object.fromEntries(examples),
        },
      },
    };
    return [status, reference('responses', `Error${name}`)];
  });
  return Object.fromEntries(references);
}

/** Allows additional properties in all objects, because later versions may add properties. */
function allowFurtherProperties(part: unknown): void {
  if (typeof part !== 'object' || part === null) return;
  if ('additionalProperties' in part && part.additionalProperties === false) {
    delete part.additionalProperties;
  }
  Object.values(part).forEach(allowFurtherProperties);
}
