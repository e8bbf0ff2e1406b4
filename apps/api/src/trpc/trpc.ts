import { appRouter, type PlantStore, toPlantStoreError } from '@plant-store/core';
import { maxBatchSize } from '@plant-store/schemas';
import { getTRPCErrorShape, transformTRPCResponse } from '@trpc/server';
import { resolveResponse } from '@trpc/server/http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { authenticate, principalOf } from '../auth/authentication.ts';
import { headError, toReplyError } from '../http/error-replies.ts';
import { acceptJson } from '../http/json-body.ts';
import { sendJson, sendJsonText } from '../http/json-reply.ts';
import { readableJson } from './readable-json.ts';
import { callMutations, headersOf, readMutations } from './mutations.ts';

/** The router over tRPC's own protocol, with everything its links send: batches, streams, GETs. */
export async function trpc(scope: FastifyInstance, { store }: { store: PlantStore }) {
  scope.addHook('onRequest', authenticate(store));
  acceptJson(scope, (text) => text);
  scope.setErrorHandler<Error>(sendEnvelope);

  scope.route({
    method: ['GET', 'POST'],
    url: '/*',
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      const context = { store, principal: principalOf(request), within: request.within };
      const path = pathOf(request);
      const onError = (error: Error) => scope.logFailure(toPlantStoreError(error), request);

      const mutations = readMutations(request, path);
      if (mutations) {
        const { status, headers, body } = await callMutations(mutations, context, onError);
        return sendJsonText(reply.code(status).headers(headers), body);
      }
      const response = await resolveResponse({
        router: appRouter,
        req: asWebRequest(request, reply),
        path,
        maxBatchSize,
        error: null,
        createContext: async () => context,
        responseMeta: ({ errors }) => ({ headers: headersOf(errors) }),
        onError: ({ error }) => onError(error),
      });
      // Node frames a stream itself, as the version of HTTP has it.
      const { 'transfer-encoding': isStream, ...headers } = Object.fromEntries(response.headers);
      reply.code(response.status).headers(headers);
      return isStream ? reply.send(response.body) : sendJsonText(reply, await response.text());
    },
  });
}

/** Answers what goes wrong before tRPC is asked, as tRPC would: its clients read nothing else. */
function sendEnvelope(thrown: Error, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const error = toReplyError(thrown);
  request.server.logFailure(error, request);
  const config = appRouter._def._config;
  const [path, type] = [pathOf(request), 'unknown'] as const;
  const shape = getTRPCErrorShape({ config, error, type, path, input: undefined, ctx: undefined });
  return sendJson(headError(reply, error), transformTRPCResponse(config, { error: shape }));
}

/** The procedures' part of the URL as it was sent: tRPC decodes it itself. */
function pathOf({ url }: FastifyRequest): string {
  return url.slice(url.indexOf('/', 1) + 1).split('?', 1)[0] ?? '';
}

/**
 * As much of a WHATWG Request as tRPC reads. A real one costs more than everything else that is
 * done for a call.
 */
function asWebRequest(request: FastifyRequest, reply: FastifyReply): Request {
  const { method, url, headers } = request;
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  const light = {
    method,
    url: `http://plant-store${url}`,
    headers: {
      get: (name: string) => headers[name.toLowerCase()] ?? null,
      has: (name: string) => name.toLowerCase() in headers,
    },
    signal: gone.signal,
    text: async () => readableJson(String(request.body ?? '')),
  };
  return light as unknown as Request; // Only what is above is read; a test runs every kind of link.
}
