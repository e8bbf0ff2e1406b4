import { createPrincipalCache, type Finding, type PlantStore } from '@plant-store/core';
import { errors, jwtVerify } from 'jose';
import { identityProviderKeys } from './identity-provider-keys.ts';

/** Whose JWTs are accepted. */
export interface JwtSettings {
  /** The `iss` that they must have. */
  issuer: string;
  /** What must be among their `aud`. */
  audience: string;
  /** Where the issuer publishes its keys. */
  jwksUrl: string;
}

/**
 * A store that takes the JWTs of an identity provider beside its own access tokens, by RFC 8725.
 * Their `sub` is the principal's name.
 */
export function acceptJwts(store: PlantStore, settings: JwtSettings): PlantStore {
  const { accessTokens } = store;
  const verify = createVerifier(settings);
  const jwts = createPrincipalCache({ find: (_sha256, jwt) => verify(jwt) });
  const authenticate = (token: string) =>
    jwtSyntax.test(token) ? jwts.get(token) : accessTokens.authenticate(token);
  const trust = (name: string, token: string) => {
    accessTokens.trust(name, token);
    jwts.keep(token, { name }); // It may look like a JWT.
  };
  return { ...store, accessTokens: { ...accessTokens, authenticate, trust } };
}

/** Three parts, of which the first is an object in JSON (`{"…`) in base64url. */
const jwtSyntax = /^eyJ[\w-]*\.[\w-]+\.[\w-]*$/;

/** Those that sign with a private key: with a secret, whoever can check a token can make one. */
const algorithms = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

/** An access token says so (RFC 9068 §2.1) or says nothing in particular; a logout token has a type of its own. */
const types = ['jwt', 'at+jwt', 'application/at+jwt'];

function createVerifier({ issuer, audience, jwksUrl }: JwtSettings) {
  const keys = identityProviderKeys(new URL(jwksUrl));
  const requiredClaims = ['exp', 'sub'];
  const options = { issuer, audience, algorithms, requiredClaims, clockTolerance: 5 };

  return async (jwt: string): Promise<Finding> => {
    try {
      const { payload, protectedHeader } = await jwtVerify(jwt, keys, options);
      const { sub, exp = 0 } = payload;
      const type = String(protectedHeader.typ ?? 'jwt').toLowerCase();
      if (typeof sub !== 'string' || sub === '' || !types.includes(type)) return nobody;
      return { principal: { name: sub }, until: exp * 1000 };
    } catch (error) {
      if (error instanceof errors.JOSEError) return nobody;
      throw error;
    }
  };
}

/** Not remembered: its key may be published, or its `nbf` come, at any time. */
const nobody: Finding = { principal: undefined, until: 0 };
