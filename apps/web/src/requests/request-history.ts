import type { PlantStoreClient } from '@plant-store/client';
import { formatJson, operations } from '@plant-store/schemas/plain';
import { getUntypedClient } from '@trpc/client';
import { type SharedState, sharedState } from '../controls/shared-state.ts';

/** A call that the console made to a procedure. */
export interface StoreRequest {
  /** The number of the request, counted from 1. */
  readonly number: number;
  readonly procedure: keyof typeof operations;
  readonly input: Readonly<Record<string, unknown>>;
  readonly at: Date;
}

/** The history keeps at most this number of requests, and forgets older requests. */
const limit = 100;

/** The latest requests, with the newest request first. */
export type RequestHistory = SharedState<readonly StoreRequest[]>;

/**
 * Records the latest requests of a client, except requests in the background. When a query is repeated, the
 * history shows only the latest request.
 */
export function recordRequests(client: PlantStoreClient): RequestHistory {
  const history = sharedState<readonly StoreRequest[]>([]);
  let number = 0;
  const record = (path: string, input: unknown, options: CallOptions) => {
    if (options?.context?.['isBackground']) return;
    // The cast is safe, because every path is the name of a procedure.
    const procedure = path as StoreRequest['procedure'];
    number++;
    // The input of every procedure is an object. The client does not send undefined properties.
    const given = Object.entries(Object(input)).filter(([, value]) => value !== undefined);
    const request = { number, procedure, input: Object.fromEntries(given), at: new Date() };
    const isQuery = operations[procedure].method === 'GET';
    const others = history.get().filter((each) => !isQuery || !isSameCall(each, request));
    history.set([request, ...others.slice(0, limit - 1)]);
  };

  // All requests go through these two methods, also the requests of tRPC's adapter for TanStack Query.
  const untyped = getUntypedClient(client);
  for (const kind of ['query', 'mutation'] as const) {
    const send = untyped[kind].bind(untyped);
    untyped[kind] = (path, input, options) => {
      record(path, input, options);
      return send(path, input, options);
    };
  }
  return history;
}

type CallOptions = { context?: Record<string, unknown> } | undefined;

function isSameCall(a: StoreRequest, b: StoreRequest): boolean {
  return a.procedure === b.procedure && formatJson(a.input) === formatJson(b.input);
}
