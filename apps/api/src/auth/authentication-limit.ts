import type { onErrorAsyncHookHandler, onRequestAsyncHookHandler } from 'fastify';
import { HttpError, toHttpError } from '../errors/http-error.ts';

const minute = 60_000;

/** Addresses that are counted in a minute, so that a flood from many does not fill the memory. */
const maxAddresses = 100_000;

/**
 * Makes the hooks that reject an address after too many failed authentications in a minute. Its
 * tokens are then not looked at. Requests with a valid token do not count.
 */
export function limitAuthenticationErrors(max: number): {
  checkAuthenticationErrors: onRequestAsyncHookHandler;
  countAuthenticationErrors: onErrorAsyncHookHandler;
} {
  const errorsByAddress = new Map<string, number>();
  let end = 0;

  return {
    async checkAuthenticationErrors({ ip }, reply) {
      if ((errorsByAddress.get(ip) ?? 0) < max) return;
      const seconds = Math.ceil((end - performance.now()) / 1000);
      if (seconds <= 0) return;
      reply.header('retry-after', seconds);
      throw new HttpError(
        'rateLimited',
        `over ${max} requests without a valid access token in a minute: try again in ${seconds} seconds`,
      );
    },
    async countAuthenticationErrors({ ip }, _reply, thrown: Error) {
      if (toHttpError(thrown).status !== 401) return;
      if (performance.now() >= end || errorsByAddress.size >= maxAddresses) {
        errorsByAddress.clear();
        end = performance.now() + minute;
      }
      errorsByAddress.set(ip, (errorsByAddress.get(ip) ?? 0) + 1);
    },
  };
}
