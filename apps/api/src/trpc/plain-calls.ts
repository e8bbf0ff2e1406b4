import {
  type AppRouter,
  type Context,
  errorShape,
  toCatalogueError,
} from '@plant-store/core/router';
import { maxBatchSize } from '@plant-store/schemas';
import type { AnyTRPCProcedure } from '@trpc/server';
import type { FastifyRequest } from 'fastify';
import { ZodType } from 'zod';
import { isObject } from '../http/body/json-body.ts';
import { readJson } from './readable-json.ts';
import { resultWriter } from './result-writer.ts';

/** The calls of a request from `httpLink` or `httpBatchLink`. Most requests are like this. */
interface PlainCalls {
  type: 'query' | 'mutation';
  isBatch: boolean;
  calls: { path: string; input: unknown }[];
}

/**
 * Calls procedures without tRPC's `resolveResponse`, which doubles the cost of a call: it creates
 * abort signals, a URL, headers and a Response for each request. A test compares the replies of
 * both ways.
 */
export function createPlainCaller(router: AppRouter) {
  const { transformer } = router._def._config;
  const { serialize } = transformer.output;
  const procedures = new Map<string, AnyTRPCProcedure>(Object.entries(router._def.procedures));
  const writers = new Map(
    [...procedures].map(([path, { _def }]) => [path, resultWriter(outputOf(_def), serialize)]),
  );

  return {
    /**
     * Reads a request that has only well-formed queries, or only well-formed mutations. Returns
     * undefined for any other request.
     */
    read(request: FastifyRequest, path: string): PlainCalls | undefined {
      const { headers } = request;
      const isStreamed = 'trpc-accept' in headers || headers.accept?.includes('jsonl');
      const content = isStreamed ? undefined : contentOf(request);
      if (!content) return undefined;

      const { type, isBatch, readInput } = content;
      const paths = isBatch ? path.split(',') : [path];
      const isKnown =
        paths.length <= maxBatchSize &&
        paths.every((each) => procedures.get(each)?._def.type === type);
      if (!isKnown) return undefined;
      try {
        const json = readInput();
        const inputs = isBatch ? json : { 0: json };
        if (!isObject(inputs)) return undefined;
        const calls = paths.map((each, i) => ({ path: each, input: deserialize(inputs[i]) }));
        return { type, isBatch, calls };
      } catch {
        return undefined;
      }
    },

    /**
     * Runs the calls concurrently. Returns tRPC's reply: an envelope, or a list of them for a
     * batch.
     */
    async call(
      { type, isBatch, calls }: PlainCalls,
      context: Context,
      onError: (error: Error) => void,
    ) {
      const outcomes = await Promise.all(calls.map((call, i) => outcomeOf(type, call, i, context)));
      const errors = outcomes.flatMap(({ error }) => (error ? [error] : []));
      errors.forEach(onError);
      const statuses = new Set(outcomes.map(({ status }) => status));
      const [status = 200] = statuses;
      const envelopes = outcomes.map(({ envelope }) => envelope).join();
      return {
        status: statuses.size > 1 ? 207 : status,
        errors,
        body: isBatch ? `[${envelopes}]` : envelopes,
      };
    },
  };

  async function outcomeOf(
    type: PlainCalls['type'],
    call: PlainCalls['calls'][number],
    batchIndex: number,
    ctx: Context,
  ) {
    const { path } = call;
    const getRawInput = async () => {
      const { input } = call;
      call.input = undefined; // It may need 40 times the memory of its text.
      return input;
    };
    try {
      const data: unknown = await procedures.get(path)?.({
        path,
        type,
        ctx,
        getRawInput,
        signal: undefined,
        batchIndex,
      });
      return { status: 200, envelope: `{"result":{"data":${await writers.get(path)?.(data)}}}` };
    } catch (thrown) {
      const shape = errorShape(toCatalogueError(thrown), path);
      const error = thrown instanceof Error ? thrown : new Error(String(thrown));
      const envelope = JSON.stringify({ error: serialize(shape) });
      return { status: shape.data.httpStatus, envelope, error };
    }
  }

  function deserialize(input: unknown): unknown {
    return input === undefined ? undefined : transformer.input.deserialize(input);
  }
}

/** The schema of a procedure's output, which is not in tRPC's public types. */
function outputOf(definition: object): ZodType | undefined {
  const output: unknown = Reflect.get(definition, 'output');
  return output instanceof ZodType ? output : undefined;
}

/**
 * The input of a request, as text: a query has it in the URL, a mutation in the body. Undefined for a
 * request with other parameters.
 */
function contentOf({ method, url, body }: FastifyRequest) {
  const parameters = new URLSearchParams(url.split('?')[1]);
  const batch = parameters.get('batch');
  const input = parameters.get('input');
  const isBatch = batch === '1';
  const known = [batch, input].filter((value) => value !== null).length;
  // A parameter that is unknown or repeated makes the size greater.
  if (parameters.size > known || (batch !== null && !isBatch)) return undefined;

  if (method === 'GET' && input !== null) {
    return { type: 'query', isBatch, readInput: () => readJson(input) } as const;
  }
  if (method === 'POST' && input === null && typeof body === 'string') {
    return { type: 'mutation', isBatch, readInput: () => readJson(body) } as const;
  }
  return undefined;
}
