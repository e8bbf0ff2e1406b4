import type { onErrorAsyncHookHandler, onRequestAsyncHookHandler } from 'fastify';
import { HttpError, toHttpError } from '../errors/http-error.ts';

const minute = 60_000;

/**
 * The most addresses that are counted at once: a flood from many addresses must not fill the
 * memory.
 */
const maxAddresses = 100_000;

/**
 * Makes the hooks that reject an address after too many failed authentications in a minute. Until
 * the minute is over, the server does not check the tokens of that address. Requests with a valid
 * token do not count.
 */
export function limitAuthenticationErrors(max: number): {
  checkAuthenticationErrors: onRequestAsyncHookHandler;
  countAuthenticationErrors: onErrorAsyncHookHandler;
} {
  const errorsByAddress = new Map<string, number>();
  let minuteEnd = 0;

  return {
    async checkAuthenticationErrors({ ip }, reply) {
      if ((errorsByAddress.get(ip) ?? 0) < max) return;
      const seconds = Math.ceil((minuteEnd - performance.now()) / 1000);
      if (seconds <= 0) return;
      reply.header('retry-after', seconds);
      throw new HttpError(
        'rateLimited',
        `over ${max} requests without a valid access token in a minute: try again in ${seconds} seconds`,
      );
    },
    async countAuthenticationErrors({ ip }, _reply, thrown: Error) {
      if (toHttpError(thrown).status !== 401) return;
      if (performance.now() >= minuteEnd || errorsByAddress.size >= maxAddresses) {
        errorsByAddress.clear();
        minuteEnd = performance.now() + minute;
      }
      errorsByAddress.set(ip, (errorsByAddress.get(ip) ?? 0) + 1);
    },
  };
}
