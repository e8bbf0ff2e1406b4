import { PlantStoreError } from '@plant-store/core';
import {
  invalidInput,
  type Operation,
  OutputText,
  PlantText,
  type Procedure,
} from '@plant-store/core/internal';
import { formatJson, IdFromText, IntegerText, parseJson, shorten } from '@plant-store/schemas';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import * as z from 'zod';
import { sendError } from '../requests/errors.ts';
import { checkQuery } from '../requests/headers.ts';
import { bodyNotJson, isObject, parseJsonBodies } from '../requests/json-body.ts';
import { callContext, type SurfaceOptions, sendJson } from './call.ts';
import { eventHandler, restEvents } from './events.ts';

/**
 * Serves every procedure that has a method and a path (`meta.openapi`) as a REST operation. The request
 * handler of trpc-to-openapi would permanently set `coerce` on our schemas. With `coerce`, every surface
 * would accept `"5"` and `null` as ids.
 */
export async function rest(scope: FastifyInstance, { procedures }: SurfaceOptions): Promise<void> {
  scope.setErrorHandler(sendError);
  parseJsonBodies(scope, readBody);

  for (const { definition: procedure } of Object.values(procedures)) {
    const { openapi: operation, events } = procedure.meta;
    if (!operation) continue;
    const { method, path } = operation;
    const sendOutput = outputHandler(operation, procedure);
    const stream = procedures[events ?? '']?.definition;
    scope.route({
      method,
      url: path.replaceAll(/\{(\w+)\}/g, ':$1'),
      compress: method === 'GET' && {},
      handler: stream ? chooseByAccept(sendOutput, operation, stream) : sendOutput,
    });
  }
}

/** Makes the handler that calls a procedure and writes its output. */
function outputHandler(operation: Operation, { call, input, type }: Procedure['definition']) {
  const readInput = inputReader(operation, input);
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const ctx = callContext(request, reply);
    const output = await call({ ctx, readInput: () => readInput(request) });
    if (output instanceof PlantText) {
      const etag = `"${output.etag}"`; // The ETag of a plant is a header (RFC 9110 §8.8.3).
      reply.header('etag', etag);
      const known = request.headers['if-none-match'] ?? ''; // A list of ETags, or `*`.
      const isKnown = known === '*' || known.includes(etag);
      if (type === 'query' && isKnown) return reply.code(304).send();
    }
    if (operation.status === 204) return reply.code(204).send();
    const json = output instanceof OutputText ? output.json : formatJson(output);
    return sendJson(reply, json);
  };
}

type Send = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** Makes a handler that sends a stream of events to a client that accepts events and does not accept JSON. */
function chooseByAccept(sendOutput: Send, operation: Operation, stream: Procedure['definition']) {
  const sendEvents = eventHandler(stream, inputReader(operation, stream.input), restEvents);
  return (request: FastifyRequest, reply: FastifyReply) => {
    const { accept = '' } = request.headers;
    const wantsEvents = /text.event-stream/i.test(accept) && !/application.json/i.test(accept);
    return wantsEvents ? sendEvents(request, reply) : sendOutput(request, reply);
  };
}

/** Makes a function that collects the input of a call from the path, `If-Match`, and the body or the query. */
function inputReader({ method, path }: Operation, schema: z.ZodType) {
  const readTexts = textReader(schema);
  const isConditional = Object.hasOwn(Object(Reflect.get(schema, 'shape')), 'ifMatch');
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  if (method === 'GET' || method === 'DELETE') {
    return ({ url, query, params, headers }: FastifyRequest) => {
      checkQuery(url);
      rejectParameters(query, ['ifMatch', ...inPath]);
      const texts = readTexts({ ...Object(query), ...Object(params) });
      return { ...texts, ...(isConditional && ifMatchOf(headers)) };
    };
  }
  const isAddressed = inPath.length > 0;
  return ({ body = isAddressed ? {} : undefined, params, query, headers }: FastifyRequest) => {
    rejectParameters(query, Object.keys(Object(query)));
    if (!isAddressed || !isObject(body)) return body;
    // This function changes the body, because a copy of a body with many fields would block the event loop.
    delete body['ifMatch'];
    return Object.assign(body, readTexts(params), isConditional && ifMatchOf(headers));
  };
}

/** Returns the condition of a request, which is a header and not a parameter. */
function ifMatchOf({ 'if-match': ifMatch }: FastifyRequest['headers']) {
  return ifMatch === undefined ? {} : { ifMatch };
}

/** @throws PlantStoreError `invalidInput` when the query has one of these parameters */
function rejectParameters(query: unknown, names: readonly string[]): void {
  const unknown = names.find((name) => Object.hasOwn(Object(query), name));
  if (unknown === undefined) return;
  const message = `invalid input: it has no parameter ${JSON.stringify(shorten(unknown))}`;
  throw new PlantStoreError('invalidInput', message);
}

function readBody(text: string): unknown {
  if (text === '') throw bodyNotJson('it is empty');
  return parseJson(text);
}

/**
 * Makes a function that reads the text parameters of a path or a query. An integer must be in plain
 * decimal: `007`, `+5` and `1e3` are not valid. An int64 becomes a `bigint`.
 *
 * @throws PlantStoreError `invalidInput`
 */
function textReader(schema: z.ZodType): (parameters: unknown) => Record<string, unknown> {
  const parser = z.object(integersIn(schema)).catchall(once);

  return (parameters) => {
    const { data, error } = parser.safeParse(parameters);
    if (error) throw invalidInput(error);
    return { ...Object(parameters), ...data }; // zod would remove `__proto__` from the parameters.
  };
}

const once = z.string({ error: 'is given more than once' });

function integersIn(schema: z.ZodType): Record<string, z.ZodType> {
  const { properties = {} } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  const texts = Object.entries(properties).flatMap(([name, property]) => {
    const { override, ...own } = property as JsonSchema & { override?: JsonSchema }; // Metadata of our schemas.
    const { type, format } = override ?? own;
    if (type !== 'integer') return [];
    const integer = format === 'int64' ? IdFromText : IntegerText.transform(Number);
    return [[name, once.pipe(integer).optional()]];
  });
  return Object.fromEntries(texts);
}

type JsonSchema = { type?: string; format?: string };
