import { type Operation, retryLink, TRPCClientError, type TRPCLink } from '@trpc/client';
import { observable } from '@trpc/server/observable';
import type { AppRouter, PlantStoreClientOptions as Options } from './client.ts';
import { isRetryable, plantStoreError } from './errors.ts';

/** Ends a call at its time limit or at an abort. The `meta` of an error says whether a repeat is safe. */
export function limitTime(timeout: number): TRPCLink<AppRouter> {
  return () =>
    ({ op, next }) =>
      observable((observer) => {
        const limit = timeout + waitOf(op) * 1_000;
        const meta = { path: op.path, isRepeatable: isRepeatable(op) };
        const fail = (error: Error) => observer.error(TRPCClientError.from(error, { meta }));
        const abort = () => fail(new DOMException('the call was aborted', 'AbortError'));
        // Otherwise, tRPC would send the aborted call in a batch with other calls.
        if (op.signal?.aborted) return abort();
        const expire = () => fail(new Error(`no response within ${limit / 1_000} seconds`));
        // A timer of 2^31 ms or more would fire immediately.
        const timer = limit < 2 ** 31 ? setTimeout(expire, limit) : undefined;
        op.signal?.addEventListener('abort', abort);
        const context = { ...op.context, deadline: Date.now() + limit };
        const call = next({ ...op, context }).subscribe({ ...observer, error: fail });
        return () => {
          clearTimeout(timer);
          op.signal?.removeEventListener('abort', abort);
          call.unsubscribe(); // Aborts the request.
        };
      });
}

/** Queries and creates of plants are safe to repeat. */
const isRepeatable = ({ type, path }: Operation) =>
  type === 'query' || /^createPlants?$/.test(path);

/** Repeats a query or a create after a temporary error. Only `followChanges` repeats a call with `wait`. */
export function repeat(): TRPCLink<AppRouter> {
  // All calls of one client have the same jitter, so that their retries can share a request.
  const jitter = 0.5 + Math.random() / 2;
  let delay = 0;
  return retryLink({
    retry({ op, error, attempts }) {
      const { headers } = Object(Object(error.meta).response);
      const retryAfter = Number(headers?.get('retry-after')) * 1_000 || 0;
      delay = Math.max(Math.min(10_000, 250 * 2 ** attempts), retryAfter * 2) * jitter;
      const isInTime = Date.now() + delay < Number(op.context['deadline']);
      return isInTime && isRepeatable(op) && waitOf(op) === 0 && isRetryable(error);
    },
    retryDelayMs: () => delay, // tRPC calls this function right after `retry`.
  });
}

/** Returns `wait`: the seconds for which the server waits for a change before it responds. */
export function waitOf({ input }: Operation): number {
  return Number(Object(input).wait) || 0;
}

/** Adds the access token to each request. Throws an error for a response that is neither JSON nor events. */
export function storeFetch(fetch: typeof globalThis.fetch, token: Options['token']) {
  return async (url: string | URL | Request, init?: { headers?: object }): Promise<Response> => {
    // If a header cannot hold a character (RFC 9110 §5.5), `fetch` throws an error that shows the token.
    const given = typeof token === 'function' ? await token() : token;
    const sent = given.trim().replace(/[^\t\x20-\x7e\x80-\xff]/g, '?');
    const headers = { ...init?.headers, authorization: `Bearer ${sent}` };
    const response = await fetch(url, { ...init, headers });
    const type = response.headers.get('content-type') ?? '';
    if (/^(application\/json|text\/event-stream)\b/.test(type)) return response;
    await response.body?.cancel();
    throw new Error('the response is not from a plant store', { cause: response });
  };
}

/**
 * Turns an error response into an event for tRPC, because an `EventSource` hides the response. The event ends
 * the subscription, because tRPC never retries its code. After an exception, the `EventSource` connects again.
 */
export async function toEvent(response: Response): Promise<Response> {
  if (response.ok) return response;
  const body = Object(await response.json());
  // Outside of the path /trpc, the store sends an error in the format of REST.
  const error = Object(body.error).json ?? { message: body.message, data: body };
  const isOfProxy = error.data === body && !plantStoreError(body);
  if (isOfProxy || isRetryable(error.data)) throw new Error(error.message);
  const event = JSON.stringify({ json: { ...error, code: -32600 } });
  const headers = { 'content-type': 'text/event-stream' };
  return new Response(`event: serialized-error\ndata: ${event}\n\n`, { headers });
}
