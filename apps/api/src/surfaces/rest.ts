import { OutputText, PlantText } from '@plant-store/core/internal';
import { formatJson, type Operation, parseJson, shorten } from '@plant-store/schemas';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type * as z from 'zod';
import { bodyNotJson, isObject, parseJsonBodies } from '../requests/body/json-body.ts';
import { methodsWithoutBody } from '../requests/request-headers.ts';
import { sendJsonText } from '../responses/json-response.ts';
import { addVary } from '../responses/negotiation.ts';
import {
  call,
  callContext,
  checkEncoding,
  type Endpoint,
  invalidQuery,
  type SurfaceOptions,
} from './call-flow.ts';
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
      encode: (output) => (output instanceof OutputText ? output.json : formatJson(output)),
    };
    const sendJson = jsonHandler(endpoint);
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
      handler(request, reply) {
        if (!sendEvents || !asksForEvents(request)) return sendJson(request, reply);
        addVary(reply, 'Accept');
        return sendEvents(request, reply);
      },
    });
  }
}

/** Makes the handler of an operation. The ETag of a plant is a header (RFC 9110 §8.8.3). */
function jsonHandler(endpoint: Endpoint) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const output = await call(endpoint, request, callContext(request, reply));
    if (output instanceof PlantText) {
      const etag = `"${output.etag}"`;
      reply.header('etag', etag);
      if (endpoint.procedure.type === 'query' && isUnchanged(request, etag)) {
        return reply.code(304).send();
      }
    }
    if (endpoint.status === 204) return reply.code(204).send();
    return sendJsonText(reply, endpoint.encode(output));
  };
}

/** Whether the client has this version already. `If-None-Match` ignores that an ETag is weak. */
function isUnchanged({ headers }: FastifyRequest, etag: string): boolean {
  const known = headers['if-none-match']?.split(',').map((each) => each.trim().replace('W/', ''));
  return known?.some((each) => each === etag || each === '*') ?? false;
}

/** Makes a function that collects the input from the path and the body, or from the path and the query. */
function inputReader({ method, path }: Operation, schema: z.ZodType) {
  const read = textReader(schema);
  const isConditional = Object.hasOwn(Object(Reflect.get(schema, 'shape')), 'ifMatch');
  if (methodsWithoutBody.has(method)) {
    return ({ url, query, params, headers }: FastifyRequest) => {
      checkEncoding(url);
      rejectParameters(query, ['ifMatch']);
      return {
        ...read(merge(Object(query), Object(params))),
        ...(isConditional && ifMatchOf(headers)),
      };
    };
  }
  const hasParameters = path.includes('{');
  return (request: FastifyRequest) => {
    const { body = hasParameters ? {} : undefined, params, query, headers } = request;
    rejectParameters(query, Object.keys(Object(query)));
    request.body = undefined;
    if (!hasParameters || !isObject(body)) return body;
    const { ifMatch, ...fields } = body;
    return { ...fields, ...read(params), ...(isConditional && ifMatchOf(headers)) };
  };
}

/** The condition of a request is a header, and not a parameter. */
function ifMatchOf({ 'if-match': ifMatch }: FastifyRequest['headers']) {
  return ifMatch === undefined ? {} : { ifMatch };
}

/** @throws PlantStoreError `invalidInput` when the query has one of these parameters */
function rejectParameters(query: unknown, names: readonly string[]): void {
  const unknown = names.find((name) => Object.hasOwn(Object(query), name));
  if (unknown !== undefined) {
    throw invalidQuery(`it has no parameter ${JSON.stringify(shorten(unknown))}`);
  }
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
