import { appRouter, type Context, toPlantStoreError } from '@plant-store/core';
import { maxBatchSize } from '@plant-store/schemas';
import {
  callTRPCProcedure,
  getTRPCErrorFromUnknown,
  getTRPCErrorShape,
  transformTRPCResponse,
} from '@trpc/server';
import type { FastifyRequest } from 'fastify';
import { errorHeaders } from '../http/error-replies.ts';
import { isObject } from '../http/json-body.ts';
import { readableJson } from './readable-json.ts';

/** What nearly every request is: mutations as `httpLink` and `httpBatchLink` send them. */
interface Mutations {
  isBatch: boolean;
  calls: { path: string; input: unknown }[];
}

const { _config: config, procedures } = appRouter._def;

const mutations = new Set(
  Object.entries(procedures).flatMap(([path, { _def }]) =>
    _def.type === 'mutation' ? [path] : [],
  ),
);

/**
 * Reads a request that holds well-formed mutations and nothing unusual; undefined of any other,
 * which is left to tRPC's `resolveResponse`. That makes abort signals, a URL, headers and a
 * Response for each request and doubles the cost of a call. A test compares the answers of both.
 */
export function readMutations(request: FastifyRequest, path: string): Mutations | undefined {
  const { method, url, headers, body } = request;
  const isStreamed = 'trpc-accept' in headers || headers.accept?.includes('jsonl');
  if (method !== 'POST' || isStreamed || typeof body !== 'string') return undefined;
  const [, query = ''] = url.split('?');
  if (query !== '' && query !== 'batch=1') return undefined;

  const isBatch = query !== '';
  const paths = isBatch ? path.split(',') : [path];
  if (paths.length > maxBatchSize || !paths.every((each) => mutations.has(each))) return undefined;
  try {
    const json: unknown = JSON.parse(readableJson(body));
    const inputs = isBatch ? json : { 0: json };
    if (!isObject(inputs)) return undefined;
    return { isBatch, calls: paths.map((each, i) => ({ path: each, input: read(inputs[i]) })) };
  } catch {
    return undefined;
  }
}

/** Calls them, all at once, and gives tRPC's answer: an envelope, or an array of one for each call. */
export async function callMutations(
  { isBatch, calls }: Mutations,
  context: Context,
  onError: (error: Error) => void,
) {
  const outcomes = await Promise.all(calls.map((call, index) => outcomeOf(call, index, context)));
  const errors = outcomes.flatMap(({ error }) => (error ? [error] : []));
  errors.forEach(onError);
  const statuses = new Set(outcomes.map(({ status }) => status));
  const [status = 200] = statuses;
  const envelopes = outcomes.map(({ envelope }) => transformTRPCResponse(config, envelope));
  return {
    status: statuses.size > 1 ? 207 : status,
    headers: { vary: 'trpc-accept, accept', ...headersOf(errors) },
    body: JSON.stringify(isBatch ? envelopes : envelopes[0]),
  };
}

/** The headers that go with errors. */
export function headersOf(errors: readonly Error[]): Record<string, string> {
  return Object.assign({}, ...errors.map(toPlantStoreError).map(errorHeaders));
}

async function outcomeOf(
  { path, input }: Mutations['calls'][number],
  batchIndex: number,
  ctx: Context,
) {
  const type = 'mutation';
  const getRawInput = async () => input;
  try {
    const call = {
      router: appRouter,
      path,
      type,
      ctx,
      getRawInput,
      signal: undefined,
      batchIndex,
    } as const;
    const data: unknown = await callTRPCProcedure(call);
    return { status: 200, envelope: { result: { data } } };
  } catch (cause) {
    const error = getTRPCErrorFromUnknown(cause);
    const shape = getTRPCErrorShape({ config, error, type, path, input, ctx });
    return { status: shape.data.httpStatus, envelope: { error: shape }, error };
  }
}

function read(input: unknown): unknown {
  return input === undefined ? undefined : config.transformer.input.deserialize(input);
}
