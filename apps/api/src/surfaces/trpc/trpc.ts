import type { AppRouter } from '@plant-store/core/router';
import { shorten } from '@plant-store/schemas';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parseJsonBodies, readText } from '../../requests/body/json-body.ts';
import { callHandler, checkEncoding, invalidQuery, type SurfaceOptions } from '../call-flow.ts';
import { eventHandler } from '../send-events.ts';
import { checkBatchSize, sendBatch } from './batch.ts';
import { createEndpoints, readJson, subscriptionInBatch } from './endpoints.ts';
import { maxStreamValues, sendStream } from './stream.ts';
import { trpcEvents } from './trpc-events.ts';

interface TrpcOptions extends SurfaceOptions {
  router: AppRouter;
}

/** Serves the router over tRPC's own protocol, for all links of tRPC's client. */
export async function trpc(scope: FastifyInstance, { router, procedures }: TrpcOptions) {
  parseJsonBodies(scope, readJson, limitsOf);
  const endpoints = createEndpoints(procedures);
  const sendCall = callHandler((request, reply) => endpoints.find(pathOf(request), request, reply));

  for (const endpoint of endpoints.subscriptions) {
    const sendEvents = eventHandler(endpoint, trpcEvents(endpoint));
    scope.get(`/${endpoint.path}`, (request, reply) => {
      if (readQuery(request, subscriptionParameters)) throw subscriptionInBatch();
      return sendEvents(request, reply);
    });
  }

  scope.route({
    method: ['GET', 'POST'],
    url: '/*',
    handler(request, reply) {
      const path = pathOf(request);
      const isBatch = readQuery(request, callParameters);
      const paths = isBatch ? path.split(',') : undefined;
      if (paths) checkBatchSize(paths);
      reply.header('vary', 'trpc-accept, accept');
      if (asksForStream(request)) return sendStream(router, request, reply, path);
      if (paths) return sendBatch(endpoints, request, reply, paths);
      return sendCall(request, reply);
    },
  });
}

function pathOf({ params }: FastifyRequest): string {
  return Object(params)['*'];
}

const callParameters = new Set(['batch', 'input']);

/**
 * A browser cannot add headers to the request of a subscription. tRPC's links therefore send
 * `connectionParams` and `lastEventId` in the query.
 */
const subscriptionParameters = new Set([...callParameters, 'connectionParams', 'lastEventId']);

/** Reads the input of a GET from the query. Returns whether the request is a batch. */
function readQuery(request: FastifyRequest, known: ReadonlySet<string>): boolean {
  if (!request.url.includes('?')) return false;
  checkEncoding(request.url);
  const query: Record<string, unknown> = Object(request.query);
  for (const [name, value] of Object.entries(query)) {
    if (!known.has(name))
      throw invalidQuery(`it has no parameter ${JSON.stringify(shorten(name))}`);
    if (typeof value !== 'string') throw invalidQuery(`${name} is given more than once`);
  }
  const { batch, input = '' } = query;
  if (request.method !== 'POST') {
    request.body = readText(String(input), readJson, limitsOf(request));
  }
  return batch === '1';
}

/** superjson adds `{ "json": … }` around each input, and a batch adds one more level of nesting. */
function limitsOf(request: FastifyRequest) {
  return {
    levelsAround: Object(request.query).batch === '1' ? 2 : 1,
    ...(asksForStream(request) && { maxValues: maxStreamValues }),
  };
}

/** Whether the client is an `httpBatchStreamLink`. */
function asksForStream({ headers }: FastifyRequest): boolean {
  const { accept = '' } = headers;
  return headers['trpc-accept'] === 'application/jsonl' || accept.includes('application/jsonl');
}
