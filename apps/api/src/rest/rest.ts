import { type PlantStore, PlantStoreError } from '@plant-store/core';
import { checkJsonDepth, formatJson, parseJson } from '@plant-store/schemas';
import type { AnyTRPCProcedure, AnyTRPCRouter } from '@trpc/server';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { OpenApiMeta } from 'trpc-to-openapi';
import * as z from 'zod';
import { callContext } from '../auth/call-context.ts';
import type { ReadInTurn } from '../http/body/body-turns.ts';
import { bodyNotJson, isObject, parseJsonBodies } from '../http/body/json-body.ts';
import { sendJsonText } from '../http/json-reply.ts';
import { listWriter } from '../http/list-writer.ts';
import { methodsWithoutBody } from '../http/request-headers.ts';
import { textReader } from './text-input.ts';

interface RestOptions {
  store: PlantStore;
  router: AnyTRPCRouter;
  readInTurn: ReadInTurn;
}

/**
 * Serves every procedure that has a method and a path (`meta.openapi`) as a REST operation. Needs
 * the hook `requireToken`.
 *
 * trpc-to-openapi generates the OpenAPI document, but we do not use its request handler. The
 * handler permanently sets `coerce` on our schemas, so that `"5"` and `null` become ids on every
 * surface. It also rewrites errors, and builds a WHATWG Request for each call.
 */
export async function rest(scope: FastifyInstance, { store, router, readInTurn }: RestOptions) {
  parseJsonBodies(scope, readInTurn, readBody);
  // The body of a DELETE has no meaning (RFC 9110 §9.3.5) and is ignored, like that of a GET.
  scope.addHttpMethod('DELETE', { hasBody: false, overrideExisting: true });

  // tRPC types this as a nested record. At run time it is flat: the keys are paths.
  const procedures: [string, AnyTRPCProcedure][] = Object.entries(router._def.procedures);
  for (const [path, procedure] of procedures) {
    const { meta, inputs, output } = procedure._def as unknown as Definition; // Not all in tRPC's public type.
    if (!meta?.openapi) continue;

    const { openapi } = meta;
    const inputOf = inputReader(openapi, inputs[0]);
    const writeReply = listWriter(output, 'integer') ?? formatJson;
    scope.route({
      method: openapi.method,
      url: openapi.path.replaceAll(/\{(\w+)\}/g, ':$1'),
      handler: async (request, reply) => {
        const result: unknown = await procedure({
          path,
          type: procedure._def.type,
          ctx: callContext(store, request),
          getRawInput: async () => {
            const input = inputOf(request);
            request.body = undefined; // A parsed body may need 40 times the memory of its text.
            return input;
          },
          signal: undefined,
          batchIndex: 0,
        });
        if (result === undefined) return reply.code(204).send();
        return sendJsonText(reply, await writeReply(result));
      },
    });
  }
}

/**
 * Makes a function that collects an operation's input: the path parameters and the body, or the
 * query for methods without a body. The values of path and query are text; the procedure's schema
 * reads them.
 */
function inputReader({ method, path }: Operation, schema: z.ZodType = z.unknown()) {
  const read = textReader(schema);
  if (methodsWithoutBody.has(method)) {
    return ({ url, query, params }: FastifyRequest) => {
      checkEncoding(url);
      return read(merge(Object(query), Object(params)));
    };
  }
  if (!path.includes('{')) return ({ body }: FastifyRequest) => body;
  return ({ body, params }: FastifyRequest) =>
    isObject(body) ? { ...body, ...read(params) } : body;
}

/** Throws when a parameter of the query is not percent-encoded UTF-8. Fastify leaves it as it is. */
function checkEncoding(url: string): void {
  const start = url.indexOf('?');
  if (start < 0) return;
  for (const parameter of url.slice(start + 1).split('&')) {
    try {
      decodeURIComponent(parameter);
    } catch (cause) {
      const message = `invalid input: ${parameter.split('=')[0]} is not percent-encoded UTF-8`;
      throw new PlantStoreError('invalidInput', message, { cause });
    }
  }
}

/** Merges parameters. One that both have becomes a list, like one that is repeated in a query. */
function merge(query: object, params: object): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...query };
  for (const [name, value] of Object.entries(params)) {
    merged[name] = name in query ? [value] : value;
  }
  return merged;
}

interface Definition {
  readonly meta?: OpenApiMeta;
  readonly inputs: readonly z.ZodType[];
  readonly output?: z.ZodType;
}

type Operation = NonNullable<OpenApiMeta['openapi']>;

function readBody(text: string): unknown {
  if (text === '') throw bodyNotJson('it is empty');
  try {
    const body = parseJson(text);
    checkJsonDepth(body);
    return body;
  } catch (cause) {
    throw bodyNotJson(cause instanceof Error ? cause.message : 'it cannot be read', cause);
  }
}
