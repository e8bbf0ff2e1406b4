import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose';
import { HttpError } from '../errors/http-error.ts';

/** The time limit of a fetch, in milliseconds. After the fetch, the request still needs time for its work. */
const fetchTimeout = 3_000;

/**
 * The least number of milliseconds between two fetches. Without this limit, every token with an unknown key
 * would cause a fetch.
 */
const cooldown = { afterSuccess: 10_000, afterFailure: 1_000 };

/** The most bytes of a JWKS. A usual JWKS has a few thousand bytes. */
const maxSize = 2 ** 20;

/** The server fetches known keys again after these milliseconds, because a key may have been withdrawn. */
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
    // jose would measure both durations by the wall clock. After somebody sets the wall clock back, jose
    // would fetch no keys.
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

  /** Fetches the keys. Concurrent calls share one fetch. */
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
