import { appRouter, procedures } from '@plant-store/core/router';
import { ErrorBody, errorCatalogue, errorKinds, httpStatus, Plant } from '@plant-store/schemas';
import { generateOpenApiDocument } from 'trpc-to-openapi';
import manifest from '../../../packages/schemas/package.json' with { type: 'json' };
import { additions, headers, headersOf, introduction } from './parts.ts';

/** The parts of an operation that this file reads. */
interface Operation {
  operationId: keyof typeof procedures;
  summary: string;
  parameters?: { name: string; schema: { description?: string } }[];
  requestBody?: object;
  responses: Record<string, { content?: object }>;
}

/**
 * Makes the OpenAPI 3.1 document of the REST surface. trpc-to-openapi inlines the bodies of requests, repeats
 * the default security, and adds errors that the server never sends. This function corrects the document.
 */
export function openApiDocument(): object {
  const generated = generateOpenApiDocument(appRouter, {
    title: 'Plant store sample',
    version: manifest.version, // All packages have the same version.
    description: introduction,
    license: { name: 'MIT', identifier: 'MIT' },
    // An API address that is relative to the document's URL (RFC 3986) also works behind a path prefix.
    baseUrl: '.',
    securitySchemes: {
      bearerAuth: { type: 'http', scheme: 'bearer', description: 'An access token of the store' },
    },
    defs: { Plant, Error: ErrorBody },
  });
  const bodies: Record<string, object> = {};
  const { paths, components, ...document } = JSON.parse(JSON.stringify(generated), (key, value) => {
    if (unwanted.test(key)) return undefined;
    const { type, title } = Object(value);
    if (type !== 'object' || !title) return value;
    const name = sameOverRest[title] ?? title;
    if (name === title) bodies[name] = value;
    return reference('schemas', name);
  });
  const responses: Record<string, object> = {};
  for (const path of Object.values<Record<string, Operation>>(paths)) {
    for (const operation of Object.values(path)) complete(operation, responses);
    const { get } = path;
    if (get) Object.assign(path, { head: headOf(get) });
  }
  const schemas = { ...components.schemas, ...bodies };
  return {
    ...document,
    paths,
    security: [{ bearerAuth: [] }],
    tags: [
      { name: 'plants', description: 'The plants in the store' },
      { name: 'tokens', description: 'The access tokens of the store' },
      { name: 'webhooks', description: 'The endpoints that get each change by HTTP' },
    ],
    components: { ...components, schemas, responses, headers },
  };
}

/** The keys to remove. `additionalProperties` would forbid the properties that later versions may add. */
const unwanted = /^(error\..*|security|additionalProperties)$/;

/** Maps each tRPC schema with an ETag to the schema of the REST body. Over REST, the ETag is a header. */
const sameOverRest: Record<string, string> = {
  PlantWithEtag: 'StoredPlant',
  ReplacePlant: 'Plant',
};

const reference = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` });

/** Adds the headers, the errors and the `additions` to an operation. */
function complete(operation: Operation, responses: Record<string, object>): void {
  const { operationId, parameters = [] } = operation;
  const { status = 200 } = procedures[operationId].definition.meta.openapi ?? {};
  const added = additions[operationId];
  const { content, ...success } = { ...operation.responses[200] };
  const given = parameters.filter(({ name }) => name !== 'ifMatch');
  operation.parameters = [
    // Some tools read only the description of the parameter, and ignore the description of its schema.
    ...given.map((each) => ({ description: each.schema.description, ...each })),
    ...(added?.parameters ?? []),
  ];
  operation.responses = {
    [status]: {
      ...success,
      ...(status !== 204 && { content: { ...content, ...added?.content } }),
      headers: { ...headersOf('200'), ...added?.headers },
    },
    ...added?.responses,
    ...errorsOf(operation, responses),
  };
}

function headOf({ operationId, summary, responses, ...get }: Operation) {
  const { content, ...success } = { ...responses[200] };
  return {
    ...get,
    operationId: `${operationId}Head`,
    summary: `${summary}: only the headers`,
    responses: { ...responses, 200: success },
  };
}

/** In each operation, the response `default` describes the errors with these statuses. */
const otherStatuses: ReadonlySet<number> = new Set([405, 408, 415, 417, 431, 500, 501]);

/** Adds the error responses of an operation to the shared responses, and returns references to them. */
function errorsOf({ operationId, requestBody }: Operation, responses: Record<string, object>) {
  const kinds = errorKinds.filter((kind) => {
    const entry = errorCatalogue[kind];
    if ('only' in entry) return entry.only.some((name) => name === operationId);
    if (kind === 'insufficientScope')
      return procedures[operationId].definition.meta.scope !== 'none';
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
    const json = { schema: reference('schemas', 'Error'), examples: Object.fromEntries(examples) };
    responses[`Error${name}`] = {
      description: start + errors.map(({ code, when }) => `${code}: ${when}`).join('; '),
      headers: headersOf(status),
      content: { 'application/json': json },
    };
    return [status, reference('responses', `Error${name}`)];
  });
  return Object.fromEntries(references);
}
