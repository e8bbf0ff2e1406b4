import { isIPv6, SocketAddress } from 'node:net';
import type { onRequestHookHandler } from 'fastify';
import { HttpError } from '../errors/http-error.ts';

export function limitRate(max: number): onRequestHookHandler {
  const requestsOf = countByClient();

  return ({ ip }, reply, done) => {
    const requests = requestsOf(ip);
    requests.count++;
    reply.headers({
      'x-ratelimit-limit': max,
      'x-ratelimit-remaining': Math.max(0, max - requests.count),
      'x-ratelimit-reset': secondsUntil(requests.end),
    });
    if (requests.count > max) {
      const retryAfter = secondsUntil(requests.end);
      const message = `over ${max} requests a minute: try again in ${retryAfter} seconds`;
      throw new HttpError('rateLimited', message, { retryAfter });
    }
    done();
  };
}

/** The most clients in memory. Without this limit, requests from many addresses could fill the memory. */
const maxClients = 100_000;

/** A client's requests in a minute. `end` is the end of this minute on the monotonic clock. */
interface Requests {
  count: number;
  readonly end: number;
}

/** Makes a function that returns the requests of a client in the current minute. */
function countByClient() {
  const minutes = new Map<string, Requests>();

  return (ip: string): Requests => {
    const client = clientOf(ip);
    const now = performance.now();
    const known = minutes.get(client);
    if (known && now < known.end) return known;
    // After `delete`, `set` puts the entry at the end of the map. The first entry of the map is the oldest.
    minutes.delete(client);
    const [oldest] = minutes.keys();
    if (oldest !== undefined && minutes.size >= maxClients) minutes.delete(oldest);
    const started = { count: 0, end: now + 60_000 };
    minutes.set(client, started);
    return started;
  };
}

/**
 * One client usually has a whole /64 of IPv6 addresses (RFC 6177). In `X-Forwarded-For`, some proxies add the
 * client's port, which differs in each connection: `192.0.2.1:50000` or `[2001:db8::1]:50000`.
 */
function clientOf(forwarded: string): string {
  const [, ipv6, ipv4] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d+)?$/.exec(forwarded) ?? [];
  const ip = ipv6 ?? ipv4 ?? forwarded;
  if (!isIPv6(ip)) return ip;
  const [unzoned] = ip.split('%', 1);
  const { address } = new SocketAddress({ family: 'ipv6', ...(unzoned && { address: unzoned }) });
  if (address.startsWith('::ffff:')) return address.slice('::ffff:'.length);
  const [left = [], right = []] = address.split('::').map((part) => part.split(':'));
  const zeros = Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0');
  return [...left, ...zeros, ...right].slice(0, 4).join(':');
}

function secondsUntil(end: number): number {
  return Math.ceil((end - performance.now()) / 1000);
}
