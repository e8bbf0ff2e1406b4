import { PlantStoreError } from '@plant-store/core';
import type { Procedure } from '@plant-store/core/internal';
import type { Context } from '@plant-store/core/router';
import { shorten } from '@plant-store/schemas';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { principalOf } from '../auth/authentication.ts';
import { toHttpError } from '../errors/http-error.ts';
import { startDeadline } from '../requests/request-state.ts';
import { sendJsonText } from '../responses/json-response.ts';

/** The procedures of a surface, by their names. */
export interface SurfaceOptions {
  procedures: Readonly<Record<string, Procedure>>;
}

/** A procedure on one surface, with the codec of the surface. */
export interface Endpoint {
  /** The procedure's name. */
  readonly path: string;
  readonly procedure: Procedure['definition'];
  /** The HTTP status of a successful call. With 204, the response has no body. */
  readonly status: number;
  /**
   * Returns the input of a call, and releases the parsed body. A parsed body may take 40 times as much memory
   * as the text of the body. The procedure calls this function only when the principal has the scope of the
   * procedure.
   *
   * @param index the place of the call in a batch, or undefined when the request is not a batch
   */
  decode(request: FastifyRequest, index?: number): unknown;
  /** Writes an output as JSON. */
  encode(output: unknown): string;
}

/**
 * Makes the handler of requests with one call. `handleError` sends the errors that the handler throws.
 *
 * @param match finds the endpoint that a request calls, or throws an HttpError
 */
export function callHandler(match: (request: FastifyRequest, reply: FastifyReply) => Endpoint) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const endpoint = match(request, reply);
    const json = await runCall(endpoint, request, callContext(request, reply));
    return endpoint.status === 204 ? reply.code(204).send() : sendJsonText(reply, json);
  };
}

export async function runCall(
  endpoint: Endpoint,
  request: FastifyRequest,
  ctx: Context,
  index?: number,
): Promise<string> {
  return endpoint.encode(await call(endpoint, request, ctx, index));
}

/** Calls the procedure of an endpoint, and returns its output. */
export function call(
  { procedure, decode }: Endpoint,
  request: FastifyRequest,
  ctx: Context,
  index?: number,
): Promise<unknown> {
  return procedure.call({ ctx, getRawInput: () => decode(request, index) });
}

export function callContext(request: FastifyRequest, reply: FastifyReply): Context {
  return {
    store: request.server.store,
    principal: principalOf(request),
    deadline: startDeadline(request),
    caller: request,
    async hold(wait) {
      request.server.startWaiting(request, reply);
      const output = await wait();
      await request.checkTokenAgain();
      return output;
    },
    onError: (error) => request.server.logError(toHttpError(error), request),
  };
}

/** Throws when a parameter is not percent-encoded UTF-8, because Fastify would accept the parameter. */
export function checkEncoding(url: string): void {
  const start = url.indexOf('?');
  if (start < 0 || !url.includes('%', start)) return;
  for (const parameter of url.slice(start + 1).split('&')) {
    try {
      decodeURIComponent(parameter);
    } catch (cause) {
      const [name = ''] = parameter.split('=', 1);
      throw invalidQuery(`${shorten(name)} is not percent-encoded UTF-8`, cause);
    }
  }
}

/** Makes an error of core's class, because a procedure may throw the error while it reads its input. */
export function invalidQuery(why: string, cause?: unknown): PlantStoreError {
  return new PlantStoreError('invalidInput', `invalid input: ${why}`, { cause });
}
