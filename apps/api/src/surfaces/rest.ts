import { jsonOf } from '@plant-store/core/internal';
import { type Deprecation, formatJson, type Operation, parseJson } from '@plant-store/schemas';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type * as z from 'zod';
import { bodyNotJson, isObject, parseJsonBodies } from '../requests/body/json-body.ts';
import { methodsWithoutBody } from '../requests/request-headers.ts';
import { addVary } from '../responses/negotiation.ts';
import { callHandler, checkEncoding, type Endpoint, type SurfaceOptions } from './call-flow.ts';
import { asksForEvents, restEvents } from './rest-events.ts';
import { eventHandler } from './send-events.ts';
import { textReader } from './text-input.ts';

/**
 * Serves every procedure that has a method and a path (`meta.openapi`) as a REST operation. The request
 * handler of trpc-to-openapi would permanently set `coerce` on our schemas. With `coerce`, every surface
 * would accept `"5"` and `null` as ids.
 */
export async function rest(scope: FastifyInstance, { procedures }: SurfaceOptions) {
  parseJsonBodies(scope, readBody);
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
    const sendJson = callHandler(() => endpoint);
    const subscription = procedures[meta.events ?? '']?.definition;
    const sendEvents =
      subscription &&
      eventHandler(
        { procedure: subscription, decode: inputReader(operation, subscription.input) },
        restEvents,
      );
    scope.route({
      method: operation.method,
      url: operation.path.replaceAll(/\{(\w+)\}/g, ':$1'),
      ...(operation.deprecation && { onRequest: deprecate(operation.deprecation) }),
      handler(request, reply) {
        if (!sendEvents || !asksForEvents(request)) return sendJson(request, reply);
        addVary(reply, 'Accept');
        return sendEvents(request, reply);
      },
    });
  }
}

/** Makes a hook that sends the headers of a deprecated operation (RFC 9745, RFC 8594). */
function deprecate({ since, sunset }: Deprecation) {
  const headers = {
    deprecation: `@${Date.parse(since) / 1000}`,
    ...(sunset !== undefined && { sunset: new Date(sunset).toUTCString() }),
  };
  return async (_request: FastifyRequest, reply: FastifyReply) => void reply.headers(headers);
}

/** Makes a function that collects the input from the path and the body, or from the path and the query. */
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

/**
 * Merges the parameters of the query and of the path. A parameter that is in the query and in the path
 * becomes a list, as if the query repeated the parameter.
 */
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
