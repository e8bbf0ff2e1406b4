import { PlantStoreError } from '@plant-store/core';
import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose';

/** Milliseconds that a request waits for the keys, so that time is left to create its plant. */
const patience = 3_000;

/** Milliseconds between two fetches, however many tokens with unknown keys come. */
const cooldown = { afterSuccess: 10_000, afterFailure: 1_000 };

/** Milliseconds after which they are fetched anew, so that a withdrawn key is not accepted for long. */
const maxAge = 600_000;

/**
 * The keys by which an identity provider signs, from its JWKS. They are fetched when first needed,
 * again for a key that is unknown, and now and then meanwhile; while the provider is down those
 * that are known go on working.
 *
 * @throws PlantStoreError `identityProviderUnavailable` when a key is unknown and they cannot be had
 */
export function identityProviderKeys(url: URL): JWTVerifyGetKey {
  let fetchedAt = Number.NEGATIVE_INFINITY;
  const keys = createRemoteJWKSet(url, {
    timeoutDuration: patience,
    cooldownDuration: cooldown.afterSuccess,
    cacheMaxAge: Number.POSITIVE_INFINITY, // jose would refuse the known ones when they are stale.
    // jose's own cool-down begins with a success alone.
    [customFetch]: async (...request) => {
      if (performance.now() - fetchedAt < cooldown.afterFailure)
        throw new Error('it has failed just now');
      fetchedAt = performance.now();
      return fetch(...request);
    },
  });

  return async (header, token) => {
    if (performance.now() - fetchedAt >= maxAge) keys.reload().catch(() => {});
    try {
      return await keys(header, token);
    } catch (error) {
      if (tokensFault.some((type) => error instanceof type)) throw error;
      const message = 'the identity provider did not answer: try again';
      throw new PlantStoreError('identityProviderUnavailable', message, { cause: error });
    }
  };
}

/** Among what goes wrong when a key is chosen, this is due to the token that asks for it. */
const tokensFault = [
  errors.JWKSNoMatchingKey,
  errors.JWKSMultipleMatchingKeys,
  errors.JOSENotSupported,
];
