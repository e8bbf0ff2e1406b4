import {
  httpSubscriptionLink,
  type Operation,
  retryLink,
  TRPCClientError,
  type TRPCLink,
} from '@trpc/client';
import { observable } from '@trpc/server/observable';
import { EventSource } from 'eventsource';
import superjson from 'superjson';
import type { AppRouter } from './app-router.ts';
import { isRetryable, timeoutError } from './errors.ts';

/** The mutations that are safe to repeat. */
const creates = ['createPlant', 'createPlants'];

/** The longest delay of `setTimeout`, in milliseconds. A longer timer would fire immediately. */
const maxTimer = 2 ** 31 - 1;

/** Ends a call at its time limit or at an abort, and repeats a query or a create after a temporary error. */
export function callLinks({ timeout, retry }: { timeout: number; retry: boolean }) {
  const limitTime: TRPCLink<AppRouter> =
    () =>
    ({ op, next }) =>
      observable((observer) => {
        const limit = timeout + waitOf(op) * 1_000;
        const meta = {
          path: op.path,
          isRepeatable: op.type === 'query' || creates.includes(op.path),
        };
        const fail = (error: Error) => observer.error(TRPCClientError.from(error, { meta }));
        const abort = () => fail(abortError(op.signal?.reason));
        const timer =
          limit <= maxTimer ? setTimeout(() => fail(timeoutError(limit)), limit) : undefined;
        op.signal?.addEventListener('abort', abort);
        const context = { ...op.context, ...meta, deadline: Date.now() + limit };
        const call = next({ ...op, context }).subscribe({
          next: (envelope) => observer.next(envelope),
          complete: () => observer.complete(),
          error: (error) => (op.signal?.aborted ? abort() : fail(error)),
        });
        return () => {
          clearTimeout(timer);
          op.signal?.removeEventListener('abort', abort);
          call.unsubscribe();
        };
      });
  // All calls of a client retry at the same time, so that they can share a request. Other clients do not.
  const jitter = Math.random();
  let delay = 0;
  const repeat = retryLink<AppRouter>({
    retry({ op: { context }, error, attempts }) {
      delay = Math.max(delayAfter(attempts, jitter), retryAfter(error) * (1 + jitter / 2));
      const isWanted = retry && context['isRepeatable'] === true && context['retry'] !== false;
      return isWanted && isRetryable(error) && Date.now() + delay < Number(context['deadline']);
    },
    retryDelayMs: () => delay, // tRPC calls this function right after `retry`.
  });
  return [limitTime, repeat];
}

/** Returns `wait`: the seconds for which the server waits for a change before it responds. */
export function waitOf({ input }: Pick<Operation, 'input'>): number {
  const { wait } = Object(input);
  return typeof wait === 'number' ? wait : 0;
}

/** Returns a random delay in milliseconds, so that clients connect at different times. */
export function delayAfter(failures: number, jitter = Math.random()): number {
  return Math.min(10_000, 250 * 2 ** failures) * (0.5 + jitter / 2);
}

/** Returns the seconds of the header `Retry-After`, in milliseconds. */
function retryAfter({ meta }: TRPCClientError<AppRouter>): number {
  const { response }: { response?: Response } = Object(meta);
  return Number(response?.headers.get('retry-after') ?? 0) * 1_000 || 0;
}

/** The `reason` of a signal can be any value. On some platforms, a signal has no `reason`. */
function abortError(reason: unknown): Error {
  const isKnown = reason instanceof Error && /^(Abort|Timeout)Error$/.test(reason.name);
  if (isKnown) return reason;
  const error = new Error('the call was aborted', { cause: reason });
  return Object.assign(error, { name: 'AbortError' });
}

interface Http {
  url: string;
  headers: () => Promise<Record<string, string>>;
  fetch: (url: string, init?: object) => Promise<Response>;
  transformer: typeof superjson;
}

/**
 * Reads the events of a subscription with `EventSource` of npm, because the platform's own one cannot send the
 * access token. It connects again after each end of the stream, and continues after the last event.
 */
export function subscriptionLinks({ headers, fetch, ...http }: Http): TRPCLink<AppRouter>[] {
  /** An `EventSource` hides the error of a response, so `connect` keeps the error in the context. */
  const explain: TRPCLink<AppRouter> =
    () =>
    ({ op, next }) =>
      observable((observer) =>
        next(op).subscribe({
          next: (envelope) => observer.next(envelope),
          complete: () => observer.complete(),
          error: (error) =>
            observer.error(TRPCClientError.from(Object(op.context['error'] ?? error))),
        }),
      );
  const connect = ({ context }: Operation) => ({
    async fetch(url: string | URL, init: { headers: Record<string, string>; signal: unknown }) {
      try {
        const all = { ...init.headers, ...(await headers()) };
        const response = await fetch(String(url), { ...init, headers: all });
        if (response.ok) return response;
        const responseJSON: unknown = await response.json();
        const { error } = Object(responseJSON);
        const meta = { response, responseJSON };
        throw TRPCClientError.from({ error: superjson.deserialize(error) }, { meta });
      } catch (error) {
        if (isRetryable(TRPCClientError.from(Object(error)))) throw error;
        context['error'] = error;
        return new Response(null, { status: 400 }); // After this response, an `EventSource` ends.
      }
    },
  });
  return [
    explain,
    httpSubscriptionLink({
      ...http,
      EventSource,
      eventSourceOptions: ({ op }) => connect(op),
    }),
  ];
}
