import { hash } from 'node:crypto';
import type { Authentication, Principal } from './principal.ts';

/** The owner of an access token; `principal` is undefined when the token is not valid. */
export interface TokenOwner {
  readonly principal: Principal | undefined;
  /** Until when this is so, in milliseconds. */
  readonly validUntil: number;
}

export interface PrincipalCache {
  /** The principal of a token, remembered or looked up; concurrent calls share one look-up. */
  get(token: string): Authentication;
  /** Forgets the tokens with these SHA-256, also when their look-up is running. */
  forget(sha256s: readonly string[]): void;
}

/** Milliseconds that an owner is remembered, at most. */
const maxAge = 30_000;

const maxSize = 10_000;

/**
 * Remembers the owners of access tokens for 30 s, by the SHA-256 of each token.
 *
 * @param find looks up the owner of a token
 * @param now a clock in milliseconds
 */
export function createPrincipalCache({
  find,
  now = () => Date.now(),
}: {
  find: (sha256: string, token: string) => Promise<TokenOwner>;
  now?: () => number;
}): PrincipalCache {
  // Two maps, so that a flood of unknown tokens cannot evict valid ones.
  const valid = new Map<string, TokenOwner>();
  const invalid = new Map<string, TokenOwner>();
  const lookups = new Map<string, Promise<Principal | undefined>>();
  let timesForgotten = 0;

  return {
    get(token) {
      const sha256 = sha256Of(token);
      const owner = valid.get(sha256) ?? invalid.get(sha256);
      if (owner && now() < owner.validUntil) return owner.principal;
      return lookups.get(sha256) ?? lookUp(sha256, token);
    },

    forget(sha256s) {
      timesForgotten++;
      for (const sha256 of sha256s) {
        valid.delete(sha256);
        lookups.delete(sha256);
      }
    },
  };

  function lookUp(sha256: string, token: string): Promise<Principal | undefined> {
    const lookup = findAndRemember(sha256, token).finally(() => lookups.delete(sha256));
    lookups.set(sha256, lookup);
    return lookup;
  }

  async function findAndRemember(sha256: string, token: string): Promise<Principal | undefined> {
    const [startedAt, forgottenBefore] = [now(), timesForgotten];
    const { principal, validUntil } = await find(sha256, token);
    // A result from before the latest `forget` may be out of date.
    if (forgottenBefore === timesForgotten) {
      remember(sha256, { principal, validUntil: Math.min(validUntil, startedAt + maxAge) });
    }
    return principal;
  }

  function remember(sha256: string, owner: TokenOwner): void {
    valid.delete(sha256);
    const owners = owner.principal ? valid : invalid;
    if (owners.size >= maxSize) owners.clear();
    owners.set(sha256, owner);
  }
}

/** The SHA-256 of a token in hexadecimal, by which the store knows it. */
export function sha256Of(token: string): string {
  return hash('sha256', token, 'hex');
}
