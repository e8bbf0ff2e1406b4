import { setImmediate } from 'node:timers/promises';
import { PlantStoreError } from '@plant-store/core';
import { OutputText, type Procedure, transformer } from '@plant-store/core/internal';
import { type Context, errorShape } from '@plant-store/core/router';
import { httpStatus, maxBatchCalls, shorten } from '@plant-store/schemas';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { showText } from '../observability/log.ts';
import { errorHeaders, messageOf, prepareError, toHttpError } from '../requests/errors.ts';
import { checkQuery } from '../requests/headers.ts';
import { isObject, parseJsonBodies, readJson, readJsonText } from '../requests/json-body.ts';
import { isLarge } from '../requests/limits.ts';
import { callContext, type SurfaceOptions, sendJson } from './call.ts';
import { eventHandler, trpcEvents } from './events.ts';

/**
 * Serves the procedures over tRPC's protocol: single calls, batches and subscriptions. In batches of ten
 * calls, tRPC's own `resolveResponse` would take a third of the server's CPU time.
 */
export async function trpc(scope: FastifyInstance, { procedures }: SurfaceOptions): Promise<void> {
  scope.setErrorHandler(sendTrpcError);
  parseJsonBodies(scope, readJson, levelsAround);

  for (const [path, { definition }] of Object.entries(procedures)) {
    if (definition.type !== 'subscription') continue;
    const format = trpcEvents(encode, (error) => errorJson(error, path));
    const readInput = (request: FastifyRequest) => {
      const { isBatch, input } = readRequest(request, subscriptionParameters);
      if (isBatch) throw subscriptionInBatch();
      return decode(input);
    };
    scope.get(`/${path}`, eventHandler(definition, readInput, format));
  }

  for (const method of ['GET', 'POST'] as const) {
    scope.route({ method, url: '/*', compress: method === 'GET' && {}, handler: sendCalls });
  }

  async function sendCalls(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { isBatch, input } = readRequest(request, callParameters);
    if (request.headers['trpc-accept'] === 'application/jsonl') {
      throw malformed('there are no streams of calls here: use httpBatchLink');
    }
    if (isBatch) return sendBatch(request, reply, input);
    const procedure = find(request, reply, namesIn(request));
    const output = await call(procedure, callContext(request, reply), input);
    return sendJson(reply, envelope(output));
  }

  async function sendBatch(request: FastifyRequest, reply: FastifyReply, inputs: unknown = {}) {
    const paths = namesIn(request).split(',');
    if (paths.length > maxBatchCalls) {
      const advice = `send at most ${maxBatchCalls}, which tRPC's links do with maxItems: ${maxBatchCalls}`;
      throw malformed(`the batch has ${paths.length} calls: ${advice}`);
    }
    const { headers, server } = request;
    if (!isObject(inputs)) {
      throw malformed('the input of a batch must be an object: {"0": …, "1": …}');
    }
    const context = callContext(request, reply);
    const statuses = new Set<number>();
    const envelopeOf = async (path: string, index: number) => {
      try {
        const output = await call(find(request, reply, path), context, inputs[index]);
        statuses.add(200);
        return envelope(output);
      } catch (thrown) {
        const error = toHttpError(thrown);
        server.logError(error, request);
        reply.headers(errorHeaders(error));
        statuses.add(httpStatus(error.kind));
        return errorEnvelope(error, path);
      }
    };
    const calls: Promise<string>[] = [];
    for (const [index, path] of paths.entries()) {
      // The check of a large input takes some milliseconds, so other requests continue before each further call.
      if (index > 0 && isLarge(Number(headers['content-length'] ?? Infinity))) await setImmediate();
      calls.push(envelopeOf(path, index));
    }
    const envelopes = await Promise.all(calls);
    const [status = 200, ...others] = statuses;
    return sendJson(reply.code(others.length > 0 ? 207 : status), `[${envelopes}]`);
  }

  /** Finds the query or the mutation at a path. Each error message begins like tRPC's own message. */
  function find(request: FastifyRequest, reply: FastifyReply, path: string) {
    const procedure = Object.hasOwn(procedures, path) && procedures[path]?.definition;
    if (!procedure) {
      throw new PlantStoreError('pathUnknown', `No procedure found on path "${shorten(path)}"`);
    }
    const { type } = procedure;
    const allowed = type === 'mutation' ? 'POST' : 'GET';
    // HEAD has the same rules as GET, because Node itself sends no body in the response to HEAD.
    const method = request.method === 'POST' ? 'POST' : 'GET';
    if (method === allowed && type === 'subscription') throw subscriptionInBatch();
    if (method === allowed) return procedure;
    reply.header('allow', allowed);
    const message = `Unsupported ${method}-request to ${type} procedure at path "${path}"`;
    throw new PlantStoreError('methodNotAllowed', message);
  }
}

function sendTrpcError(thrown: unknown, request: FastifyRequest, reply: FastifyReply) {
  const error = prepareError(thrown, reply);
  return sendJson(reply, errorEnvelope(error, namesIn(request)));
}

function call({ call }: Procedure['definition'], ctx: Context, input: unknown): unknown {
  return call({ ctx, readInput: () => decode(input) });
}

/** Returns the names of the procedures in a path. The route of a subscription has no wildcard. */
function namesIn({ params, routeOptions }: FastifyRequest): string {
  return Object(params)['*'] ?? routeOptions.url?.slice('/trpc/'.length) ?? '';
}

const callParameters = new Set(['batch', 'input']);

/**
 * A browser's `EventSource` has no option for headers, so some clients send `lastEventId` and `connectionParams` in
 * the query. The store ignores `connectionParams`, because it accepts an access token only in the header.
 */
const subscriptionParameters = new Set([...callParameters, 'connectionParams', 'lastEventId']);

/** Returns whether a request is a batch, and its input. The input of a GET is in the query. */
function readRequest(request: FastifyRequest, known: ReadonlySet<string>) {
  const { method, body } = request;
  if (!request.url.includes('?')) return { isBatch: false, input: body };
  checkQuery(request.url);
  const query: Record<string, unknown> = Object(request.query);
  for (const [name, value] of Object.entries(query)) {
    if (!known.has(name)) {
      throw invalidQuery(`it has no parameter ${JSON.stringify(shorten(name))}`);
    }
    if (typeof value !== 'string') throw invalidQuery(`${name} is given more than once`);
  }
  const isBatch = query['batch'] === '1';
  if (method === 'POST') return { isBatch, input: body };
  const text = String(query['input'] ?? '');
  return { isBatch, input: readJsonText(text, readJson, levelsAround(request)) };
}

/** superjson adds `{ "json": … }` around each input, and a batch adds one more level of nesting. */
function levelsAround({ query }: FastifyRequest): number {
  return Object(query).batch === '1' ? 2 : 1;
}

const subscriptionInBatch = () => malformed('Cannot batch subscription calls: send one alone');

const malformed = (message: string) => new PlantStoreError('malformedRequest', message);

const invalidQuery = (why: string) => new PlantStoreError('invalidInput', `invalid input: ${why}`);

function decode(input: unknown): unknown {
  return input === undefined ? undefined : transformer.input.deserialize(input);
}

function encode(output: unknown): string {
  if (output instanceof OutputText) return output.superjson();
  return JSON.stringify(transformer.output.serialize(output));
}

const envelope = (output: unknown) => `{"result":{"data":${encode(output)}}}`;

const errorEnvelope = (error: PlantStoreError, path: string) =>
  `{"error":${errorJson(error, path)}}`;

function errorJson(error: PlantStoreError, path: string): string {
  const { kind, cause } = error;
  const message = messageOf(error);
  return encode(errorShape({ kind, message, cause }, showText(path) || undefined));
}
