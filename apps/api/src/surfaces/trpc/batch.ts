import { setImmediate } from 'node:timers/promises';
import { maxBatchCalls } from '@plant-store/schemas';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { errorHeaders, trpcErrorBody } from '../../errors/error-response.ts';
import { HttpError, toHttpError } from '../../errors/http-error.ts';
import { isObject } from '../../requests/body/json-body.ts';
import { isLarge } from '../../requests/memory/limit-memory.ts';
import { sendJsonText } from '../../responses/json-response.ts';
import { callContext, runCall } from '../call-flow.ts';
import type { Endpoints } from './endpoints.ts';

export async function sendBatch(
  endpoints: Endpoints,
  request: FastifyRequest,
  reply: FastifyReply,
  paths: readonly string[],
): Promise<FastifyReply> {
  if (request.body === undefined) request.body = {};
  if (!isObject(request.body)) {
    const message = 'the input of a batch must be an object: {"0": …, "1": …}';
    throw new HttpError('malformedRequest', message);
  }
  const context = callContext(request, reply);
  const statuses = new Set<number>();
  const envelopeOf = async (path: string, index: number) => {
    try {
      const endpoint = endpoints.find(path, request, reply);
      const envelope = await runCall(endpoint, request, context, index);
      statuses.add(200);
      return envelope;
    } catch (thrown) {
      const error = toHttpError(thrown);
      request.server.logError(error, request);
      reply.headers(errorHeaders(error));
      statuses.add(error.status);
      return trpcErrorBody(error, path);
    }
  };
  const calls: Promise<string>[] = [];
  for (const [index, path] of paths.entries()) {
    // The check of a large input takes some milliseconds. The loop therefore pauses before each further call,
    // so that other requests can continue.
    if (index > 0 && isLarge(request.bodyBytes)) await setImmediate();
    calls.push(envelopeOf(path, index));
  }
  const envelopes = await Promise.all(calls);
  const [status = 200, ...others] = statuses;
  reply.code(others.length > 0 ? 207 : status);
  return sendJsonText(reply, `[${envelopes.join()}]`);
}

/** Throws when a batch has more calls than tRPC accepts. The error message advises smaller batches. */
export function checkBatchSize({ length }: readonly string[]): void {
  if (length <= maxBatchCalls) return;
  const advice = `send at most ${maxBatchCalls}, which tRPC's links do with maxItems: ${maxBatchCalls}`;
  throw new HttpError('malformedRequest', `the batch has ${length} calls: ${advice}`);
}
