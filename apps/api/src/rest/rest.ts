import type { PlantStore } from '@plant-store/core';
import { parseJson, refuseDeepJson } from '@plant-store/schemas';
import type { AnyTRPCProcedure, AnyTRPCRouter } from '@trpc/server';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { OpenApiMeta } from 'trpc-to-openapi';
import { authenticate, principalOf } from '../auth/authentication.ts';
import { acceptJson, bodyNotJson, isObject } from '../http/json-body.ts';
import { sendJson } from '../http/json-reply.ts';

/**
 * Every procedure that has a method and a path (`meta.openapi`), as a REST operation.
 *
 * trpc-to-openapi writes the document, but its own request handler stays unused: it sets
 * `coerce` on our schemas for good, so that `"5"` and `null` become ids on every surface, rewrites
 * errors, and builds a WHATWG Request for each call.
 */
export async function rest(scope: FastifyInstance, { store, router }: RestOptions) {
  scope.addHook('onRequest', authenticate(store));
  acceptJson(scope, readBody);

  // Typed by tRPC as the router's record; at run time it is flat, by path.
  const procedures: [string, AnyTRPCProcedure][] = Object.entries(router._def.procedures);
  for (const [path, procedure] of procedures) {
    const { openapi } = procedure._def.meta as OpenApiMeta; // The router's own meta type.
    if (!openapi) continue;

    const inputOf = inputReader(openapi);
    scope.route({
      method: openapi.method,
      url: openapi.path.replaceAll(/\{(\w+)\}/g, ':$1'),
      handler: async (request, reply) => {
        const result: unknown = await procedure({
          path,
          type: procedure._def.type,
          ctx: { store, principal: principalOf(request), within: request.within },
          getRawInput: async () => inputOf(request),
          signal: undefined,
          batchIndex: 0,
        });
        return sendJson(reply, result);
      },
    });
  }
}

interface RestOptions {
  store: PlantStore;
  router: AnyTRPCRouter;
}

/**
 * Where an operation's input comes from, by the rules of the document: the query where there is no
 * body, and the parameters of the path. Those are text, for the procedure's schema to read.
 */
function inputReader({ method, path }: Operation): (request: FastifyRequest) => unknown {
  if (method === 'GET' || method === 'DELETE') {
    return ({ query, params }) => ({ ...Object(query), ...Object(params) });
  }
  if (!path.includes('{')) return ({ body }) => body;
  return ({ body, params }) => (isObject(body) ? { ...body, ...Object(params) } : body);
}

type Operation = NonNullable<OpenApiMeta['openapi']>;

function readBody(text: string): unknown {
  if (text === '') throw bodyNotJson('it is empty');
  try {
    const body = parseJson(text);
    refuseDeepJson(body);
    return body;
  } catch (cause) {
    throw bodyNotJson(cause instanceof Error ? cause.message : 'it cannot be read', cause);
  }
}
