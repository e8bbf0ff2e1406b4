import { TRPCClientError, type TRPCLink } from '@trpc/client';
import { observable, type Unsubscribable } from '@trpc/server/observable';
import type { AppRouter } from './app-router.ts';
import { isRetryable } from './plant-store-error.ts';

/** The longest delay, in milliseconds. A connection that lasts longer counts as successful. */
const maxDelay = 10_000;

/**
 * Subscribes again after a temporary error, and continues after the last event. The number of attempts has no
 * limit. The link `retryLink` of tRPC is not suitable, because its delay stays long even after a success.
 */
export const reconnectLink: TRPCLink<AppRouter> =
  () =>
  ({ op, next }) =>
    observable((observer) => {
      let lastEventId: string | undefined;
      let startedAt = Infinity;
      let failures = 0;
      let timer: ReturnType<typeof setTimeout> | undefined;
      let subscription: Unsubscribable | undefined;
      const connect = () => {
        const input = { ...Object(op.input), ...(lastEventId && { lastEventId }) };
        subscription = next({ ...op, input }).subscribe({
          next(envelope) {
            const { result } = envelope;
            // After a permanent error, tRPC's own link would connect again, so unsubscribe from that link.
            if (result.type === 'state' && result.error && !mayPass(result.error)) {
              observer.error(result.error);
              return subscription?.unsubscribe();
            }
            if (result.type === 'started') startedAt = Date.now();
            if ('id' in result) lastEventId = result.id;
            observer.next(envelope);
          },
          error(wrapped) {
            const error = unwrapped(wrapped);
            if (!mayPass(error)) return observer.error(error);
            const hasLasted = Date.now() - startedAt > maxDelay;
            startedAt = Infinity;
            failures = hasLasted ? 0 : failures + 1;
            // The server ends each connection after about a minute, so this end is not an error.
            if (hasLasted) return connect();
            timer = setTimeout(connect, delayAfter(failures));
            observer.next({ result: { type: 'state', state: 'connecting', error } });
          },
          complete: () => observer.complete(),
        });
      };
      const stop = () => {
        clearTimeout(timer);
        subscription?.unsubscribe();
        observer.complete();
      };
      op.signal?.addEventListener('abort', stop);
      connect();
      return () => {
        op.signal?.removeEventListener('abort', stop);
        stop();
      };
    });

/** Before version 11.23, tRPC puts the error of a stream into a `SuppressedError`. */
function unwrapped(error: TRPCClientError<AppRouter>): TRPCClientError<AppRouter> {
  const { name, suppressed } = Object(error.cause);
  return name === 'SuppressedError' ? unwrapped(TRPCClientError.from(suppressed)) : error;
}

/** Whether a subscription continues after an error. If the token expired, the client asks for a new token. */
export function mayPass(error: TRPCClientError<AppRouter>): boolean {
  const { response } = Object(error.meta);
  return isRetryable(error) || (error.data?.httpStatus === 401 && !response);
}

/** Returns a random delay in milliseconds, so that clients connect at different times. */
export function delayAfter(failures: number, jitter = Math.random()): number {
  return Math.min(maxDelay, 250 * 2 ** failures) * (0.5 + jitter / 2);
}
