import { hash } from 'node:crypto';
import type { Authentication, Principal } from './principal.ts';

/** The owner of an access token. `principal` is undefined when the token is not valid. */
export interface TokenOwner {
  readonly principal: Principal | undefined;
  /** The time at which the token expires, in milliseconds since 1970. */
  readonly validUntil: number;
}

/**
 * The maximum age of a cached owner, in milliseconds. The documentation promises that a revoked token is
 * invalid after 30 s. A request that used the cached owner has one more second.
 */
const maxAge = 29_000;

/** The maximum size of each of the two maps. When a map is full, the cache empties this map. */
const maxSize = 10_000;

/**
 * Caches the owners of access tokens for up to 29 s. The key is the SHA-256 of the token.
 *
 * @param find looks up the owner of a token.
 * @param now returns the time, in milliseconds since 1970.
 * @param elapsed returns milliseconds on a clock that never goes back, unlike the time of the machine.
 */
export function createPrincipalCache({
  find,
  now = () => Date.now(),
  elapsed = () => performance.now(),
}: {
  find: (sha256: string, token: string) => Promise<TokenOwner>;
  now?: () => number;
  elapsed?: () => number;
}) {
  // There are two maps, so that a flood of unknown tokens cannot evict valid tokens.
  const valid = new Map<string, CachedOwner>();
  const invalid = new Map<string, CachedOwner>();
  const lookups = new Map<string, Promise<Principal | undefined>>();
  let forgetCount = 0;

  return {
    /** Returns a token's principal from the cache, or looks the token up. Concurrent calls share a look-up. */
    get(token: string): Authentication {
      const sha256 = sha256Of(token);
      const owner = valid.get(sha256) ?? invalid.get(sha256);
      if (owner && elapsed() < owner.cachedUntil && now() < owner.validUntil)
        return owner.principal;
      return lookups.get(sha256) ?? lookUp(sha256, token);
    },

    /** Forgets the tokens with these hashes. The results of running look-ups are not cached. */
    forget(sha256s: readonly string[]): void {
      forgetCount++;
      for (const sha256 of sha256s) {
        valid.delete(sha256);
        lookups.delete(sha256);
      }
    },
  };

  function lookUp(sha256: string, token: string): Promise<Principal | undefined> {
    const lookup = findAndCache(sha256, token).finally(() => lookups.delete(sha256));
    lookups.set(sha256, lookup);
    return lookup;
  }

  async function findAndCache(sha256: string, token: string): Promise<Principal | undefined> {
    const [startedAt, startTime, forgetCountBefore] = [elapsed(), now(), forgetCount];
    const owner = await find(sha256, token);
    const cachedUntil = startedAt + Math.min(maxAge, owner.validUntil - startTime);
    // If `forget` was called during the look-up, the owner may be out of date.
    if (forgetCountBefore === forgetCount) add(sha256, { ...owner, cachedUntil });
    return owner.principal;
  }

  function add(sha256: string, owner: CachedOwner): void {
    valid.delete(sha256);
    const owners = owner.principal ? valid : invalid;
    if (owners.size >= maxSize) owners.clear();
    owners.set(sha256, owner);
  }
}

interface CachedOwner extends TokenOwner {
  /** The time at which the cache drops the owner, on the clock `elapsed`. */
  readonly cachedUntil: number;
}

/** The SHA-256 of a token, in hexadecimal. */
export function sha256Of(token: string): string {
  return hash('sha256', token, 'hex');
}
