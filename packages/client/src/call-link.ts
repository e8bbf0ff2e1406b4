import { type Operation, TRPCClientError, type TRPCLink } from '@trpc/client';
import { observable, type Unsubscribable } from '@trpc/server/observable';
import type { AppRouter } from './app-router.ts';
import { isRetryable, timeoutError } from './plant-store-error.ts';
import { delayAfter } from './reconnect.ts';

export interface CallOptions {
  /**
   * The time limit of a call with all its retries, in milliseconds. The default is 10,000. If a call has
   * `wait`, the client adds the seconds of `wait` to the limit. `Infinity` means no limit.
   */
  timeout?: number | undefined;
  /**
   * Whether the client repeats a query or a create after a temporary error. The default is `true`.
   * The client never repeats a delete, because the second delete could delete a new plant with the same id.
   */
  retry?: boolean | undefined;
}

/** The mutations that are safe to repeat. */
const creates = ['createPlant', 'createPlants'];

/** The longest delay of `setTimeout`, in milliseconds. A longer timer would fire immediately. */
const maxTimer = 2 ** 31 - 1;

/** Ends a call at the time limit or an abort. Repeats queries and creates after temporary errors. */
export function callLink({ timeout = 10_000, retry = true }: CallOptions): TRPCLink<AppRouter> {
  return () => {
    // Makes different clients retry at different times. All calls of one client retry at the same time, so
    // that the retries can share a request.
    const jitter = Math.random();
    return ({ op, next }) =>
      observable((observer) => {
        const isRepeatable = op.type === 'query' || creates.includes(op.path);
        const limit = timeout + waitOf(op) * 1_000;
        const deadline = Date.now() + limit;
        const connection = new AbortController();
        let request: Unsubscribable | undefined;
        let retryTimer: ReturnType<typeof setTimeout> | undefined;
        let failures = 0;
        const send = () => {
          request = next({ ...op, signal: connection.signal }).subscribe({
            next: (envelope) => observer.next(envelope),
            complete: () => observer.complete(),
            error(error) {
              const delay = Math.max(delayAfter(++failures, jitter), retryAfter(error, jitter));
              const mayGoOn = retry && isRepeatable && isRetryable(error);
              if (mayGoOn && Date.now() + delay < deadline) retryTimer = setTimeout(send, delay);
              else fail(error);
            },
          });
        };
        const fail = (error: Error) =>
          observer.error(TRPCClientError.from(error, { meta: { isRepeatable } }));
        const abort = () => fail(abortError(op.signal?.reason));
        const timer =
          limit <= maxTimer ? setTimeout(() => fail(timeoutError(limit)), limit) : undefined;
        op.signal?.addEventListener('abort', abort);
        if (op.signal?.aborted) abort();
        else send();
        return () => {
          clearTimeout(timer);
          clearTimeout(retryTimer);
          op.signal?.removeEventListener('abort', abort);
          request?.unsubscribe();
          connection.abort();
        };
      });
  };
}

/** Returns `wait`: the seconds for which the server waits for a change before it responds. */
export function waitOf({ input }: Pick<Operation, 'input'>): number {
  const { wait } = Object(input);
  return typeof wait === 'number' ? wait : 0;
}

/** Returns the delay of `Retry-After` in milliseconds. The header contains a number of seconds or a date. */
function retryAfter({ meta }: TRPCClientError<AppRouter>, jitter: number): number {
  const { response }: { response?: Response } = Object(meta);
  const text = response?.headers.get('retry-after') ?? '0';
  const seconds = Number(text);
  const delay = Number.isNaN(seconds) ? Date.parse(text) - Date.now() : seconds * 1_000;
  return delay > 0 ? delay * (1 + jitter / 2) : 0;
}

/** The `reason` of a signal can be any value. On some platforms, a signal has no `reason`. */
function abortError(reason: unknown): Error {
  const isKnown = reason instanceof Error && /^(Abort|Timeout)Error$/.test(reason.name);
  if (isKnown) return reason;
  const error = new Error('the call was aborted', { cause: reason });
  return Object.assign(error, { name: 'AbortError' });
}
