import { OutputText, type Procedure, transformer } from '@plant-store/core/internal';
import { parseJson, shorten } from '@plant-store/schemas';
import { TRPCError } from '@trpc/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { HttpError } from '../../errors/http-error.ts';
import { isObject } from '../../requests/body/json-body.ts';
import type { Endpoint } from '../call-flow.ts';

/** Makes the endpoint of each procedure, with tRPC's codec. */
export function createEndpoints(procedures: Readonly<Record<string, Procedure>>) {
  const endpoints = new Map<string, Endpoint>();
  for (const [path, { definition: procedure }] of Object.entries(procedures)) {
    const { type } = procedure;
    endpoints.set(path, {
      path,
      procedure,
      status: 200,
      decode(request, index) {
        const json = takeJson(request, index);
        try {
          return json === undefined ? undefined : transformer.input.deserialize(json);
        } catch (cause) {
          throw new TRPCError({ code: 'BAD_REQUEST', cause }); // tRPC itself throws the same error.
        }
      },
      encode(output) {
        const data =
          output instanceof OutputText
            ? output.superjson()
            : JSON.stringify(transformer.output.serialize(output));
        return type === 'subscription' ? data : `{"result":{"data":${data}}}`;
      },
    });
  }

  return {
    /** Finds the endpoint of the query or the mutation at a path. The error messages are tRPC's. */
    find(path: string, request: FastifyRequest, reply: FastifyReply): Endpoint {
      const endpoint = endpoints.get(path);
      if (!endpoint)
        throw new HttpError('pathUnknown', `No procedure found on path "${shorten(path)}"`);
      const { type } = endpoint.procedure;
      const allowed = type === 'mutation' ? 'POST' : 'GET';
      // HEAD has the same rules as GET, because Node itself sends no body in the response to HEAD.
      const method = request.method === 'POST' ? 'POST' : 'GET';
      if (method === allowed && type === 'subscription') throw subscriptionInBatch();
      if (method === allowed) return endpoint;
      reply.header('allow', allowed);
      const message = `Unsupported ${method}-request to ${type} procedure at path "${path}"`;
      throw new HttpError('methodNotAllowed', message);
    },
    subscriptions: [...endpoints.values()].filter(
      ({ procedure }) => procedure.type === 'subscription',
    ),
  };
}

export type Endpoints = ReturnType<typeof createEndpoints>;

/** Makes the error for a batch that contains a subscription. The response of a subscription is a stream. */
export function subscriptionInBatch(): HttpError {
  return new HttpError('malformedRequest', 'Cannot batch subscription calls: send one alone');
}

/** Returns the JSON of a call. Removes the JSON from the request, so that Node can free the memory. */
function takeJson(request: FastifyRequest, index: number | undefined): unknown {
  const { body } = request;
  if (index === undefined || !isObject(body)) {
    request.body = undefined;
    return body;
  }
  const json = body[index];
  body[index] = undefined;
  return json;
}

/**
 * Reads the input of a request as tRPC does, with `JSON.parse`. An empty text means that there is no input. A
 * fraction that `JSON.parse` would round to an integer becomes NaN. An integer beyond ±(2^53−1) becomes a
 * number, and not a `bigint`. The schema rejects NaN, and numbers beyond ±(2^53−1).
 */
export function readJson(text: string): unknown {
  return text === '' ? undefined : parseJson(text, Number);
}
