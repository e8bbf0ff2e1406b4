import { type AppRouter, type Context, describeError, errorShape } from '@plant-store/core/router';
import { maxBatchSize } from '@plant-store/schemas';
import { callTRPCProcedure, transformTRPCResponse } from '@trpc/server';
import type { FastifyRequest } from 'fastify';
import { isObject } from '../http/json-body.ts';
import { readableJson } from './readable-json.ts';

/** The calls of a request from `httpLink` or `httpBatchLink`. Most requests are like this. */
interface Mutations {
  isBatch: boolean;
  calls: { path: string; input: unknown }[];
}

/**
 * Calls mutations without tRPC's `resolveResponse`, which doubles the cost of a call: it creates
 * abort signals, a URL, headers and a Response for each request. A test compares the replies of
 * both ways.
 */
export function createMutationCaller(router: AppRouter) {
  const { _config: config, procedures } = router._def;
  const mutations = new Set(
    Object.entries(procedures).flatMap(([path, { _def }]) =>
      _def.type === 'mutation' ? [path] : [],
    ),
  );

  return {
    /**
     * Reads a request that has only well-formed mutations; returns undefined for any other request.
     */
    read(request: FastifyRequest, path: string): Mutations | undefined {
      const { method, url, headers, body } = request;
      const isStreamed = 'trpc-accept' in headers || headers.accept?.includes('jsonl');
      if (method !== 'POST' || isStreamed || typeof body !== 'string') return undefined;
      const [, query = ''] = url.split('?');
      if (query !== '' && query !== 'batch=1') return undefined;

      const isBatch = query !== '';
      const paths = isBatch ? path.split(',') : [path];
      const isKnown = paths.length <= maxBatchSize && paths.every((each) => mutations.has(each));
      if (!isKnown) return undefined;
      try {
        const json: unknown = JSON.parse(readableJson(body));
        const inputs = isBatch ? json : { 0: json };
        if (!isObject(inputs)) return undefined;
        const calls = paths.map((each, i) => ({ path: each, input: deserialize(inputs[i]) }));
        return { isBatch, calls };
      } catch {
        return undefined;
      }
    },

    /**
     * Runs the calls concurrently. Returns tRPC's reply: an envelope, or a list of them for a
     * batch.
     */
    async call({ isBatch, calls }: Mutations, context: Context, onError: (error: Error) => void) {
      const outcomes = await Promise.all(calls.map((call, i) => outcomeOf(call, i, context)));
      const errors = outcomes.flatMap(({ error }) => (error ? [error] : []));
      errors.forEach(onError);
      const statuses = new Set(outcomes.map(({ status }) => status));
      const [status = 200] = statuses;
      const envelopes = outcomes.map(({ envelope }) => transformTRPCResponse(config, envelope));
      return {
        status: statuses.size > 1 ? 207 : status,
        errors,
        body: JSON.stringify(isBatch ? envelopes : envelopes[0]),
      };
    },
  };

  async function outcomeOf(call: Mutations['calls'][number], batchIndex: number, ctx: Context) {
    const { path } = call;
    const getRawInput = async () => {
      const { input } = call;
      call.input = undefined; // It may need 40 times the memory of its text.
      return input;
    };
    try {
      const data: unknown = await callTRPCProcedure({
        router,
        path,
        type: 'mutation',
        ctx,
        getRawInput,
        signal: undefined,
        batchIndex,
      });
      return { status: 200, envelope: { result: { data } } };
    } catch (thrown) {
      const shape = errorShape(describeError(thrown), path);
      const error = thrown instanceof Error ? thrown : new Error(String(thrown));
      return { status: shape.data.httpStatus, envelope: { error: shape }, error };
    }
  }

  function deserialize(input: unknown): unknown {
    return input === undefined ? undefined : config.transformer.input.deserialize(input);
  }
}
