import { PlantStoreError, type Principal } from '@plant-store/core';
import { createPrincipalCache } from '@plant-store/core/internal';
import { isScope, type Scope } from '@plant-store/schemas';
import {
  createRemoteJWKSet,
  customFetch,
  errors,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
} from 'jose';
import { type Authenticate, tokenInvalid } from './tokens.ts';

/** The identity provider whose JWTs the server accepts. */
export interface JwtSettings {
  /** The value that `iss` must have. */
  issuer: string;
  /** The value that `aud` must contain. */
  audience: string;
  jwksUrl: string;
}

/**
 * Makes a function that authenticates the JWTs of an identity provider (RFC 8725). The function passes tokens
 * that are not JWTs to `fallback`. The `sub` of a JWT is the name of its principal.
 */
export function acceptJwts(settings: JwtSettings, fallback: Authenticate): Authenticate {
  const verify = createVerifier(settings);
  const principals = createPrincipalCache((_sha256, jwt) => verify(jwt));
  return (token) => (jwtSyntax.test(token) ? principals.get(token) : fallback(token));
}

/** Matches a JWT: three parts in base64url. The first part is a JSON object, and `eyJ` encodes its `{"`. */
const jwtSyntax = /^eyJ[\w-]*\.[\w-]+\.[\w-]*$/;

/** All these algorithms sign with a private key. A client that knows a shared secret could forge JWTs. */
const algorithms = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

/**
 * The types of access tokens (RFC 9068 §2.1) and of plain JWTs. Logout tokens have another type, so the
 * server rejects logout tokens.
 */
const types = ['jwt', 'at+jwt', 'application/at+jwt'];

function createVerifier({ issuer, audience, jwksUrl }: JwtSettings) {
  const keys = identityProviderKeys(new URL(jwksUrl));
  const requiredClaims = ['exp', 'sub'];
  const options = { issuer, audience, algorithms, requiredClaims, clockTolerance: 5 };

  return async (jwt: string): Promise<Principal> => {
    try {
      const { payload, protectedHeader } = await jwtVerify(jwt, keys, options);
      const { sub, exp = 0 } = payload;
      const type = String(protectedHeader.typ ?? 'jwt').toLowerCase();
      if (typeof sub !== 'string' || sub === '' || !types.includes(type)) throw tokenInvalid();
      const expiresAt = new Date(exp * 1000);
      return { name: sub, scopes: scopesOf(payload), expiresAt, issuer };
    } catch (error) {
      if (error instanceof PlantStoreError) throw error;
      const code = error instanceof errors.JOSEError && error.code;
      // jose throws its base class when the JWKS response has another status than 200, or is not JSON.
      if (code === errors.JOSEError.code) unavailable(error);
      // The cache stores no errors, because a JWT may become valid: at its `nbf`, or when its key is published.
      if (code && code !== errors.JWKSInvalid.code) throw tokenInvalid();
      const message = 'a key of the identity provider is weak or malformed: replace it there';
      throw tokenInvalid(new Error(message, { cause: error }));
    }
  };
}

/** Milliseconds after which the server loads known keys again, because the provider may have withdrawn a key. */
const renewInterval = 10 * 60_000;

/**
 * Finds the keys of an identity provider in its JWKS. jose loads the JWKS on first use, and for an unknown key
 * at most every 30 s. While the provider is down, known keys stay in use for at least an hour.
 */
function identityProviderKeys(url: URL): JWTVerifyGetKey {
  const keys = createRemoteJWKSet(url, {
    timeoutDuration: 3_000, // The request that waits for the keys still needs time for its work.
    cacheMaxAge: renewInterval + 60 * 60_000,
    [customFetch]: (...request) => fetch(...request).catch(unavailable),
  });
  let renewedAt = performance.now();
  return (header, token) => {
    if (performance.now() - renewedAt >= renewInterval) {
      renewedAt = performance.now();
      keys.reload().catch(() => {}); // The known keys stay in use.
    }
    return keys(header, token);
  };
}

function unavailable(cause: unknown): never {
  const message = 'the identity provider did not respond: try again';
  throw new PlantStoreError('identityProviderUnavailable', message, { cause });
}

/**
 * Returns the store's scopes in a `scope` claim (RFC 8693 §4.2): a text or a list of texts. A claim of another
 * type has no scopes. A claim without a scope of the store, and without a text `plants:…`, means `plants:create`.
 */
function scopesOf({ scope = '' }: JWTPayload): readonly Scope[] {
  const texts: unknown[] = [scope].flat();
  if (!texts.every((each) => typeof each === 'string')) return [];
  const named = texts.flatMap((each) => each.split(' '));
  return named.some((each) => each.startsWith('plants:') || isScope(each))
    ? named.filter(isScope)
    : ['plants:create'];
}
