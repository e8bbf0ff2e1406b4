import { type Operation, retryLink, TRPCClientError, type TRPCLink } from '@trpc/client';
import { observable } from '@trpc/server/observable';
import superjson from 'superjson';
import type { AppRouter } from './app-router.ts';
import { isRetryable, notFromStore } from './errors.ts';

/** Ends a call at its time limit or at an abort. Adds to an error whether the call is safe to repeat. */
export function limitTime(timeout: number): TRPCLink<AppRouter> {
  return () =>
    ({ op, next }) =>
      observable((observer) => {
        const limit = timeout + waitOf(op) * 1_000;
        const meta = { path: op.path, isRepeatable: isRepeatable(op) };
        const fail = (error: Error) => observer.error(TRPCClientError.from(error, { meta }));
        const abort = () => {
          const { reason } = op.signal ?? {};
          const isKnown = reason instanceof Error && /^(Abort|Timeout)Error$/.test(reason.name);
          fail(isKnown ? reason : named('AbortError', 'the call was aborted'));
        };
        const expire = () =>
          fail(named('TimeoutError', `no response within ${limit / 1_000} seconds`));
        // A longer timer would fire immediately.
        const hasTimer = op.type !== 'subscription' && limit < 2 ** 31;
        const timer = hasTimer ? setTimeout(expire, limit) : undefined;
        op.signal?.addEventListener('abort', abort);
        const context = { ...op.context, deadline: Date.now() + limit };
        const call = next({ ...op, context }).subscribe({
          ...observer,
          error: (error) => (op.signal?.aborted ? abort() : fail(Object(context).error ?? error)),
        });
        return () => {
          clearTimeout(timer);
          op.signal?.removeEventListener('abort', abort);
          call.unsubscribe();
        };
      });
}

function named(name: string, message: string): Error {
  return Object.assign(new Error(message), { name });
}

/** Queries and creates are safe to repeat. */
function isRepeatable({ type, path }: Operation): boolean {
  return type === 'query' || path === 'createPlant' || path === 'createPlants';
}

/** Repeats a query or a create after a temporary error, but not a call with `wait`, which a loop repeats. */
export function repeat(isWanted: boolean): TRPCLink<AppRouter> {
  // All calls of a client retry at the same time, so that they can share a request. Other clients do not.
  const jitter = 0.5 + Math.random() / 2;
  let delay = 0;
  return retryLink({
    retry({ op, error, attempts }) {
      const { response }: { response?: Response } = Object(error.meta);
      const retryAfter = Number(response?.headers.get('retry-after')) * 1_000 || 0;
      delay = Math.max(Math.min(10_000, 250 * 2 ** attempts), retryAfter * 2) * jitter;
      const isInTime = Date.now() + delay < Number(op.context['deadline']);
      return isWanted && isInTime && isRepeatable(op) && waitOf(op) === 0 && isRetryable(error);
    },
    retryDelayMs: () => delay, // tRPC calls this function right after `retry`.
  });
}

/** Returns `wait`: the seconds for which the server waits for a change before it responds. */
export function waitOf({ input }: Operation): number {
  const { wait } = Object(input);
  return typeof wait === 'number' ? wait : 0;
}

export type Fetch = (url: string, init?: RequestInit) => Promise<Response>;

/** Makes a `fetch` whose `json()` throws an error with the status when the body is not JSON. */
export function storeFetch(fetch: Fetch) {
  return async (url: string | URL | Request, init?: object): Promise<Response> => {
    const response = await fetch(String(url), init);
    const read = response.json.bind(response);
    const json = () =>
      read().catch((cause: unknown) => {
        throw cause instanceof SyntaxError ? notFromStore(response.status) : cause;
      });
    return Object.assign(response, { json });
  };
}

interface Http {
  headers: () => Promise<Record<string, string>>;
  fetch: ReturnType<typeof storeFetch>;
}

/**
 * Makes the `fetch` of an `EventSource`, which connects again after an exception and ends after an error
 * response. It hides the error of a response, so the context keeps the error.
 */
export function connectTo({ headers, fetch }: Http, { context }: Operation) {
  return async (url: string | URL, init: { headers: object }): Promise<Response> => {
    try {
      const response = await fetch(url, {
        ...init,
        headers: { ...init.headers, ...(await headers()) },
      });
      if (response.ok) return response;
      const responseJSON: unknown = await response.json();
      const { error } = Object(responseJSON);
      const meta = { response, responseJSON };
      throw TRPCClientError.from({ error: superjson.deserialize(error) }, { meta });
    } catch (thrown) {
      const error = TRPCClientError.from(Object(thrown));
      if (isRetryable(error)) throw error;
      context['error'] = error;
      return new Response(null, { status: 400 });
    }
  };
}
