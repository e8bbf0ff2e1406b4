import rateLimit, { type FastifyRateLimitStore } from '@fastify/rate-limit';
import type { FastifyInstance, onRequestHookHandler } from 'fastify';
import { HttpError } from '../errors/http-error.ts';

/** Makes a hook that limits how many requests one address may send in a minute. */
export async function limitRate(
  scope: FastifyInstance,
  max: number,
): Promise<onRequestHookHandler> {
  await scope.register(rateLimit, {
    max,
    global: false,
    store: RequestCounts,
    errorResponseBuilder: (_request, { after }) =>
      new HttpError('rateLimited', `over ${max} requests a minute: try again in ${after}`),
  });
  return scope.rateLimit();
}

/** Addresses that are counted at once; the oldest one makes room for a new one. */
const maxAddresses = 10_000;

/**
 * Counts the requests of each address. The plugin's own store reads the wall clock: when somebody
 * sets that back by an hour, it rejects an address for an hour.
 */
class RequestCounts implements FastifyRateLimitStore {
  readonly #windows = new Map<string, { current: number; end: number }>();

  incr(
    address: string,
    callback: (error: null, result: { current: number; ttl: number }) => void,
    timeWindow: number,
  ): void {
    const now = performance.now();
    const known = this.#windows.get(address);
    const window = known && now < known.end ? known : { current: 0, end: now + timeWindow };
    if (window !== known) this.#add(address, window);
    window.current++;
    callback(null, { current: window.current, ttl: Math.ceil(window.end - now) });
  }

  child(): RequestCounts {
    return new RequestCounts();
  }

  #add(address: string, window: { current: number; end: number }): void {
    this.#windows.delete(address); // So that it becomes the newest.
    const [oldest] = this.#windows.keys();
    if (oldest !== undefined && this.#windows.size >= maxAddresses) this.#windows.delete(oldest);
    this.#windows.set(address, window);
  }
}
