import type { PlantStore } from '@plant-store/core';
import { type AppRouter, errorShape } from '@plant-store/core/router';
import { maxBatchSize } from '@plant-store/schemas';
import { transformTRPCResponse } from '@trpc/server';
import { resolveResponse } from '@trpc/server/http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { callContext } from '../auth/call-context.ts';
import { errorHeaders } from '../errors/error-headers.ts';
import { HttpError, toHttpError } from '../errors/http-error.ts';
import type { BodyBudget } from '../http/body/body-budget.ts';
import type { ReadInTurn } from '../http/body/body-turns.ts';
import { parseJsonBodies } from '../http/body/json-body.ts';
import { setErrorHeaders } from '../http/error-reply.ts';
import { sendJson, sendJsonText } from '../http/json-reply.ts';
import { createPlainCaller } from './plain-calls.ts';
import { readableJson, readableUrl } from './readable-json.ts';

interface TrpcOptions {
  store: PlantStore;
  router: AppRouter;
  bodies: BodyBudget;
  readInTurn: ReadInTurn;
}

/**
 * Serves the router over tRPC's own protocol. All links of tRPC's client work, with batches and
 * streams too. Needs the hook `requireToken`.
 */
export async function trpc(
  scope: FastifyInstance,
  { store, router, bodies, readInTurn }: TrpcOptions,
) {
  const plainCalls = createPlainCaller(router);
  parseJsonBodies(scope, readInTurn, (text) => text);

  // tRPC's client can read an error only in tRPC's own envelope.
  scope.setErrorHandler((thrown, request, reply) => {
    const error = toHttpError(thrown);
    scope.logError(error, request);
    const shape = errorShape(error, pathOf(request));
    const envelope = transformTRPCResponse(router._def._config, { error: shape });
    return sendJson(setErrorHeaders(reply, error), envelope);
  });

  scope.route({
    method: ['GET', 'POST'],
    url: '/*',
    handler: async (request, reply) => {
      const context = callContext(store, request);
      const path = pathOf(request);
      const onError = (thrown: Error) => scope.logError(toHttpError(thrown), request);

      const calls = plainCalls.read(request, path);
      if (calls) {
        request.body = undefined;
        const { status, errors, body } = await plainCalls.call(calls, context, onError);
        reply.code(status).headers({ vary: 'trpc-accept, accept', ...headersOf(errors) });
        return sendJsonText(reply, body);
      }
      checkBatchSize(request, path);
      bodies.reserveParsed(request, String(request.body ?? '')); // tRPC keeps all inputs.
      const response = await resolveResponse({
        router,
        req: asWebRequest(request, reply),
        path,
        maxBatchSize,
        error: null,
        createContext: async () => context,
        responseMeta: ({ errors }) => ({ headers: headersOf(errors) }),
        onError: ({ error }) => onError(error),
      });
      // Node itself chooses the transfer encoding of a stream, by the version of HTTP.
      const { 'transfer-encoding': isStream, ...headers } = Object.fromEntries(response.headers);
      reply.code(response.status).headers(headers);
      // A stream has no length, so HTTP/1.0 would need the end of the connection to end it.
      return isStream && request.raw.httpVersion !== '1.0'
        ? reply.send(response.body)
        : sendJsonText(reply, await response.text());
    },
  });
}

/** Throws for a batch that tRPC would reject, with a message that says what to do. */
function checkBatchSize({ query }: FastifyRequest, path: string): void {
  const isBatch = Object(query).batch === '1';
  const size = isBatch ? path.split(',').length : 1;
  if (size <= maxBatchSize) return;
  const advice = `send at most ${maxBatchSize}, which tRPC's links do with maxItems: ${maxBatchSize}`;
  throw new HttpError('malformedRequest', `the batch has ${size} calls: ${advice}`);
}

function headersOf(errors: readonly Error[]): Record<string, string> {
  return Object.assign({}, ...errors.map(toHttpError).map(errorHeaders));
}

/** The part of the URL that names the procedures, still encoded: tRPC decodes it. */
function pathOf({ url }: FastifyRequest): string {
  return url.slice(url.indexOf('/', 1) + 1).split('?', 1)[0] ?? '';
}

/**
 * Makes the parts of a WHATWG Request that tRPC reads. A whole Request would cost more than the
 * rest of the call.
 */
function asWebRequest(request: FastifyRequest, reply: FastifyReply): Request {
  const { url, headers } = request;
  const method = request.method === 'HEAD' ? 'GET' : request.method; // Node leaves the body out.
  const closed = new AbortController();
  reply.raw.once('close', () => closed.abort());
  const webRequest = {
    method,
    url: readableUrl(new URL(`http://plant-store${url}`)).href,
    headers: {
      get: (name: string) => headers[name.toLowerCase()] ?? null,
      has: (name: string) => name.toLowerCase() in headers,
    },
    signal: closed.signal,
    text: async () => readableJson(String(request.body ?? '')),
  };
  return webRequest as unknown as Request; // A test shows that every link works with these parts.
}
