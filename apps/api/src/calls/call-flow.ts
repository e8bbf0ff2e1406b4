import { type PlantStore, PlantStoreError } from '@plant-store/core';
import type { Context } from '@plant-store/core/router';
import { type Operation, shorten } from '@plant-store/schemas';
import type { AnyTRPCProcedure } from '@trpc/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type * as z from 'zod';
import { principalOf } from '../auth/authentication.ts';
import { toHttpError } from '../errors/http-error.ts';
import { startDeadline } from '../http/body/deadline.ts';
import { sendJsonText } from '../http/responses/json-response.ts';

/** A procedure as a surface serves it, with the surface's codec. */
export interface Endpoint {
  /** The procedure's name. */
  readonly path: string;
  readonly procedure: AnyTRPCProcedure;
  /** The HTTP status of its success. With 204, the response has no body. */
  readonly status: number;
  /**
   * Returns the input of a call, and releases the parsed body, which may need 40 times the memory
   * of its text. It is called only when the principal has the scope of the procedure.
   *
   * @param index the place of the call in a batch; undefined when the request is not a batch
   */
  decode(request: FastifyRequest, index?: number): unknown;
  /** Writes an output as JSON. */
  encode(output: unknown): string | Promise<string>;
}

/**
 * Makes the handler of requests with one call, which is the same on every surface. The hooks have
 * authenticated the request, and Fastify has read its body. `handleError` sends the errors that it
 * throws.
 *
 * @param match finds the endpoint that a request calls, or throws an HttpError
 */
export function callHandler(
  store: PlantStore,
  match: (request: FastifyRequest, reply: FastifyReply) => Endpoint,
) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const endpoint = match(request, reply);
    const json = await runCall(endpoint, request, callContext(store, request, reply));
    return endpoint.status === 204 ? reply.code(204).send() : sendJsonText(reply, json);
  };
}

/** Decodes the input of a call, runs it, and encodes its output. */
export function runCall(
  endpoint: Endpoint,
  request: FastifyRequest,
  ctx: Context,
  index?: number,
): Promise<string> {
  const decode = () => endpoint.decode(request, index);
  return startCall(endpoint, decode, ctx, { index }).then(endpoint.encode);
}

/** Runs a call and returns its output. */
export function startCall(
  { path, procedure }: Endpoint,
  decode: () => unknown,
  ctx: Context,
  { index = 0, signal }: { index?: number | undefined; signal?: AbortSignal } = {},
): Promise<unknown> {
  return procedure({
    path,
    type: procedure._def.type,
    ctx,
    // The type of `getRawInput` asks for a promise, but every caller also takes a value.
    getRawInput: decode as () => Promise<unknown>,
    signal,
    batchIndex: index,
  });
}

/** The context for the procedures that a request calls. */
export function callContext(
  store: PlantStore,
  request: FastifyRequest,
  reply: FastifyReply,
): Context {
  const deadline = startDeadline(request);
  return {
    store,
    principal: principalOf(request),
    deadline,
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

/** The parts of a procedure that a codec needs. Not all are in tRPC's public types. */
interface Definition {
  readonly meta?: { readonly openapi?: Operation };
  readonly inputs: readonly z.ZodType[];
  readonly output?: z.ZodType;
}

/** The procedures of a router, by their names. */
export function proceduresOf(router: { _def: { procedures: object } }) {
  // tRPC types this as a nested record. At run time it is flat: the keys are paths.
  const procedures: [string, AnyTRPCProcedure][] = Object.entries(router._def.procedures);
  return procedures.map(([path, procedure]) => {
    const definition = procedure._def as unknown as Definition;
    return { ...definition, path, procedure };
  });
}

/**
 * Throws when a parameter of the query is not percent-encoded UTF-8. Fastify leaves such a
 * parameter as it is.
 */
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

/**
 * The error for a query that does not fit its operation. A procedure may throw it while it reads the
 * input, so it is an error of core.
 */
export function invalidQuery(why: string, cause?: unknown): PlantStoreError {
  return new PlantStoreError('invalidInput', `invalid input: ${why}`, { cause });
}
