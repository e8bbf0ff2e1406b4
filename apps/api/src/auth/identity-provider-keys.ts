import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose';
import { HttpError } from '../errors/http-error.ts';

/** Milliseconds that a fetch may take. Then the request that waits for keys still has time for its work. */
const fetchTimeout = 3_000;

/** Milliseconds between two fetches. Without them, each token with an unknown key would cause a fetch. */
const cooldown = { afterSuccess: 10_000, afterFailure: 1_000 };

/** The most bytes of a JWKS. A usual JWKS has a few thousand bytes. */
const maxSize = 2 ** 20;

/** Milliseconds until known keys are fetched again, because the provider may have withdrawn a key. */
const maxAge = 600_000;

/**
 * Makes a function that finds the keys of an identity provider in its JWKS. The function fetches the keys
 * on first use, for an unknown key, and every ten minutes. Known keys work even when the provider is down.
 *
 * @throws HttpError `identityProviderUnavailable` when a key is unknown and the fetch fails. Throws jose's
 *   error when the provider does not have the key, or when the key is malformed
 */
export function identityProviderKeys(url: URL): JWTVerifyGetKey {
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let loadedAt = Number.NEGATIVE_INFINITY;
  const keys = createRemoteJWKSet(url, {
    timeoutDuration: fetchTimeout,
    // `POSITIVE_INFINITY` turns off jose's own fetches. jose measures by the wall clock, and would fetch no
    // keys after somebody sets that clock back.
    cooldownDuration: Number.POSITIVE_INFINITY,
    cacheMaxAge: Number.POSITIVE_INFINITY,
    [customFetch]: async (...request) => {
      if (performance.now() - fetchedAt < cooldown.afterFailure)
        throw new Error('the last fetch failed less than a second ago');
      fetchedAt = performance.now();
      const response = await fetch(...request);
      if (!response.ok) {
        await response.body?.cancel();
        return response;
      }
      return Response.json(await readJson(response));
    },
  });

  return async (header, token) => {
    if (performance.now() - fetchedAt >= maxAge) load().catch(() => {});
    if (loadedAt === Number.NEGATIVE_INFINITY) await load();
    try {
      return await keys(header, token);
    } catch (error) {
      const isRecent = performance.now() - loadedAt < cooldown.afterSuccess;
      if (isRecent || !(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await load();
      return keys(header, token);
    }
  };

  /** Concurrent calls share one fetch. */
  async function load(): Promise<void> {
    try {
      await keys.reload();
    } catch (cause) {
      const message = 'the identity provider did not respond: try again';
      throw new HttpError('identityProviderUnavailable', message, { cause });
    }
    loadedAt = performance.now();
  }
}

/** Reads at most `maxSize` bytes, because a broken provider may send data without end. */
async function readJson({ body }: Response): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > maxSize) throw new Error(`the JWKS is over ${maxSize} bytes`);
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString());
}
