import { setImmediate } from 'node:timers/promises';
import type { AppRouter } from '@plant-store/core/router';
import { maxBatchCalls } from '@plant-store/schemas';
import { resolveResponse } from '@trpc/server/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { errorHeaders, jsonHeaders } from '../../errors/error-response.ts';
import { toHttpError } from '../../errors/http-error.ts';
import { sendJsonText } from '../../responses/json-response.ts';
import { callContext } from '../call-flow.ts';

/**
 * A body may have at most this number of values. The limit is low, because tRPC parses the body a second
 * time, and does not pause during this work.
 */
export const maxStreamValues = 24_000;

/**
 * Sends the results of a request of `httpBatchStreamLink` as a stream. The calls run in tRPC's own
 * `resolveResponse`, because tRPC defines the format. A stream costs several times the CPU time of
 * `sendBatch`.
 */
export async function sendStream(
  router: AppRouter,
  request: FastifyRequest,
  reply: FastifyReply,
  path: string,
): Promise<FastifyReply> {
  const context = callContext(request, reply);
  const json = request.body === undefined ? '' : JSON.stringify(request.body);
  request.body = undefined;
  // tRPC needs all inputs until the response, so the server counts the memory of the inputs until then.
  request.server.memory.reserveParsed(request, json);
  // tRPC reads all inputs without any pause. Before this work, other requests can continue.
  await setImmediate();
  const response = await resolveResponse({
    router,
    req: asWebRequest(request, reply, json),
    path: encodeURIComponent(path),
    maxBatchSize: maxBatchCalls,
    error: null,
    createContext: async () => context,
    responseMeta: ({ errors }) => ({
      headers: Object.assign({}, ...errors.map(toHttpError).map(errorHeaders)),
    }),
    onError: ({ error }) => request.server.logError(toHttpError(error), request),
  });
  // Node itself chooses the transfer encoding of a stream, by the version of HTTP.
  const { 'transfer-encoding': _, ...headers } = Object.fromEntries(response.headers);
  reply.code(response.status).headers({ ...headers, ...jsonHeaders });
  // A stream has no `Content-Length`. HTTP/1.0 can mark the end of a stream only by closing the connection.
  return request.raw.httpVersion === '1.0'
    ? sendJsonText(reply, await response.text())
    : reply.send(response.body);
}

function asWebRequest(request: FastifyRequest, reply: FastifyReply, json: string): Request {
  const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)]);
  const method = request.method === 'POST' ? 'POST' : 'GET';
  const url = new URL(`http://plant-store${request.url}`);
  if (method === 'GET') url.searchParams.set('input', json);
  const closed = new AbortController();
  reply.raw.once('close', () => closed.abort());
  const body = method === 'POST' ? json : null;
  return new Request(url, {
    method,
    headers: Object.fromEntries(headers),
    body,
    signal: closed.signal,
  });
}
