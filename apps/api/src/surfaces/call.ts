import type { Procedure } from '@plant-store/core/internal';
import { deadlineIn, defaultTimeout } from '@plant-store/core/internal';
import type { Context } from '@plant-store/core/router';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { checkTokenAgain, principalOf } from '../auth/tokens.ts';
import { jsonHeaders, toHttpError } from '../requests/errors.ts';
import { isLarge } from '../requests/limits.ts';

/** The procedures of a surface, by their names. */
export interface SurfaceOptions {
  procedures: Readonly<Record<string, Procedure>>;
}

/** Makes the context of the calls of a request. The time limit begins when the whole body has arrived. */
export function callContext(request: FastifyRequest, reply: FastifyReply): Context {
  const { server } = request;
  return {
    store: server.store,
    principal: principalOf(request),
    deadline: deadlineIn(defaultTimeout),
    caller: request,
    async hold(wait) {
      startWaiting(request, reply);
      const output = await wait();
      await checkTokenAgain(request);
      return output;
    },
    onError: (error) => server.logError(toHttpError(error), request),
  };
}

/** A client that half-closes its connection counts as disconnected, because Node then closes the connection. */
export function isGone(this: FastifyRequest): boolean {
  const { destroyed, readableEnded } = this.raw.socket;
  return destroyed || readableEnded;
}

/** Counts a request before it waits for changes. The metrics leave out the time of the wait. */
export function startWaiting(request: FastifyRequest, { elapsedTime, raw }: FastifyReply): void {
  if (request.waitsFrom !== undefined) return;
  request.server.budgets.streams.takeFor(raw, 1);
  request.waitsFrom = elapsedTime;
}

/** Sends a text as `application/json`, without Fastify's charset parameter (RFC 8259 §11). */
export function sendJson(reply: FastifyReply, json: string, isRead = false): FastifyReply {
  if (isLarge(json.length)) {
    // A write is done already, so its response is never rejected.
    const isWrite = !['GET', 'HEAD'].includes(reply.request.method) && !isRead;
    reply.server.budgets.responses.takeFor(reply.raw, json.length, isWrite);
  }
  return reply.headers(jsonHeaders).serializer(String).send(json);
}
