import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose';
import { HttpError } from '../errors/http-error.ts';

/** Milliseconds that a request waits for the keys. It leaves time to create the plant. */
const fetchTimeout = 3_000;

/** Milliseconds between two fetches, however many tokens have unknown keys. */
const cooldown = { afterSuccess: 10_000, afterFailure: 1_000 };

/** Milliseconds until the keys are fetched again, so that a withdrawn key is soon rejected. */
const maxAge = 600_000;

/**
 * Makes a function that finds the keys of an identity provider in its JWKS. The keys are fetched on
 * first use, for an unknown key, and every ten minutes. While the provider is down, known keys
 * work.
 *
 * @throws HttpError `identityProviderUnavailable` when a key is unknown and the fetch fails
 */
export function identityProviderKeys(url: URL): JWTVerifyGetKey {
  let fetchedAt = Number.NEGATIVE_INFINITY;
  const keys = createRemoteJWKSet(url, {
    timeoutDuration: fetchTimeout,
    cooldownDuration: cooldown.afterSuccess,
    cacheMaxAge: Number.POSITIVE_INFINITY, // Otherwise jose rejects known keys that are too old.
    // jose's own cooldown starts only after a success.
    [customFetch]: async (...request) => {
      if (performance.now() - fetchedAt < cooldown.afterFailure)
        throw new Error('the last fetch has only just failed');
      fetchedAt = performance.now();
      return fetch(...request);
    },
  });

  return async (header, token) => {
    if (performance.now() - fetchedAt >= maxAge) keys.reload().catch(() => {});
    try {
      return await keys(header, token);
    } catch (error) {
      if (tokenErrors.some((type) => error instanceof type)) throw error;
      const message = 'the identity provider did not answer: try again';
      throw new HttpError('identityProviderUnavailable', message, { cause: error });
    }
  };
}

/** The token causes these errors; all others come from the provider. */
const tokenErrors = [
  errors.JWKSNoMatchingKey,
  errors.JWKSMultipleMatchingKeys,
  errors.JOSENotSupported,
];
