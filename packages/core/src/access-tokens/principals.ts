import { hash } from 'node:crypto';
import type { Scope } from '@plant-store/schemas';
import { LRUCache } from 'lru-cache';

/** The owner of a call's access token or JWT. */
export interface Principal {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** The time at which the token expires. Undefined when the token never expires. */
  readonly expiresAt?: Date | undefined;
  /** The id of the access token. Undefined for a JWT and for a token in a setting. */
  readonly tokenId?: string | undefined;
  /** The issuer of a JWT. Principals with and without an issuer may have the same name. */
  readonly issuer?: string | undefined;
}

/** Returns `expiresAt`. If RFC 3339 cannot represent this time, returns undefined, which means no expiry. */
export function representable(expiresAt: Date | null | undefined): Date | undefined {
  return expiresAt && expiresAt.getTime() < Date.UTC(10_000, 0) ? expiresAt : undefined;
}

/** A principal from the cache, or a promise of the look-up. Undefined when the token is not valid. */
export type Authentication = Principal | undefined | Promise<Principal | undefined>;

/**
 * How long a principal is cached after the start of its look-up, in milliseconds. The documentation promises
 * that a revoked token is invalid after 30 s. The remaining second is for requests that have already begun.
 */
const ttl = 29_000;

const max = 10_000;

/**
 * Caches the principals of tokens. Known and unknown tokens have separate caches, so that many unknown tokens
 * evict no known token. The key is the SHA-256 of the token.
 *
 * @param find looks up a token. The cache does not keep errors.
 */
export function createPrincipalCache(
  find: (sha256: string, token: string) => Promise<Principal | undefined>,
) {
  const known = new LRUCache<string, Principal>({ max, ttl });
  const unknown = new LRUCache<string, true>({ max, ttl });
  let revocations = 0;

  return {
    /** Returns a token's principal from the cache, or looks the token up. */
    get(token: string): Authentication {
      const sha256 = sha256Of(token);
      const principal = known.get(sha256);
      return principal || unknown.has(sha256) ? principal : lookUp(sha256, token);
    },

    /** Forgets the revoked tokens with these hashes. */
    forget(sha256s: readonly string[]): void {
      revocations += 1;
      for (const sha256 of sha256s) known.delete(sha256);
    },
  };

  async function lookUp(sha256: string, token: string): Promise<Principal | undefined> {
    const [start, earlier] = [performance.now(), revocations];
    const found = await find(sha256, token);
    const left = found?.expiresAt ? found.expiresAt.getTime() - Date.now() : ttl;
    // If a token was revoked during the look-up, the result may be outdated.
    if (revocations !== earlier || !(left > 0)) return found;
    if (found) known.set(sha256, found, { start, ttl: Math.min(ttl, left) });
    else unknown.set(sha256, true, { start });
    return found;
  }
}

export function sha256Of(token: string): string {
  return hash('sha256', token, 'hex');
}
