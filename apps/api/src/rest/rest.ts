import type { PlantStore } from '@plant-store/core';
import { jsonOf, type Procedure } from '@plant-store/core/internal';
import { formatJson, type Operation, parseJson } from '@plant-store/schemas';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type * as z from 'zod';
import { callHandler, checkEncoding, type Endpoint } from '../calls/call-flow.ts';
import { bodyNotJson, isObject, parseJsonBodies } from '../http/body/json-body.ts';
import type { QueueBody } from '../http/body/large-body-queue.ts';
import { methodsWithoutBody } from '../http/request-headers.ts';
import { textReader } from './text-input.ts';

interface RestOptions {
  store: PlantStore;
  procedures: Readonly<Record<string, Procedure>>;
  queueBody: QueueBody;
}

/**
 * Serves every procedure that has a method and a path (`meta.openapi`) as a REST operation. Needs
 * the hook `requireToken`.
 *
 * trpc-to-openapi generates the OpenAPI document, but we do not use its request handler. The
 * handler permanently sets `coerce` on our schemas, so that `"5"` and `null` become ids on every
 * surface. It also rewrites errors, and builds a WHATWG Request for each call.
 */
export async function rest(scope: FastifyInstance, { store, procedures, queueBody }: RestOptions) {
  parseJsonBodies(scope, queueBody, readBody);
  // The body of a DELETE has no meaning (RFC 9110 §9.3.5) and is ignored, like the body of a GET.
  scope.addHttpMethod('DELETE', { hasBody: false, overrideExisting: true });

  for (const [path, { definition: procedure }] of Object.entries(procedures)) {
    const { meta, input } = procedure;
    const operation = meta.openapi;
    if (!operation) continue;
    const endpoint: Endpoint = {
      path,
      procedure,
      status: operation.status,
      decode: inputReader(operation, input),
      encode: (output) => jsonOf(output) ?? formatJson(output),
    };
    scope.route({
      method: operation.method,
      url: operation.path.replaceAll(/\{(\w+)\}/g, ':$1'),
      handler: callHandler(store, () => endpoint),
    });
  }
}

/**
 * Makes a function that collects an operation's input: the path parameters and the body, or the query for
 * methods without a body. The values of path and query are text, and the procedure's schema reads them.
 */
function inputReader({ method, path }: Operation, schema: z.ZodType) {
  const read = textReader(schema);
  if (methodsWithoutBody.has(method)) {
    return ({ url, query, params }: FastifyRequest) => {
      checkEncoding(url);
      return read(merge(Object(query), Object(params)));
    };
  }
  const hasParameters = path.includes('{');
  return (request: FastifyRequest) => {
    const { body, params } = request;
    request.body = undefined;
    return hasParameters && isObject(body) ? { ...body, ...read(params) } : body;
  };
}

/** Merges parameters. A parameter that is in both becomes a list, as if a query repeated it. */
function merge(query: object, params: object): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...query };
  for (const [name, value] of Object.entries(params)) {
    merged[name] = name in query ? [value] : value;
  }
  return merged;
}

function readBody(text: string): unknown {
  if (text === '') throw bodyNotJson('it is empty');
  return parseJson(text);
}
