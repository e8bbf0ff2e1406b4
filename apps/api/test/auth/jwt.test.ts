import { generateKeyPairSync } from 'node:crypto';
import { type CryptoKey, exportJWK, exportSPKI, generateKeyPair } from 'jose';
import { describe, expect, it } from 'vitest';
import { inSeconds, jwtSettings, startIdentityProvider } from '../fixtures/identity-provider.ts';
import { share, startServer, type Target } from '../fixtures/server.ts';
import { rest, surfaces } from '../fixtures/surfaces.ts';

const algorithms = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

const weak = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey;

/** Invalid keys of the provider. For these keys, jose throws errors that are not of its class `JOSEError`. */
const badKeys: [what: string, kid: string, key: object][] = [
  ['is weak', 'weak', weak.export({ format: 'jwk' })],
  ['has no modulus', 'empty', { kty: 'RSA', e: 'AQAB' }],
  ['has a modulus that is a number', 'number', { kty: 'RSA', n: 5, e: 'AQAB' }],
];

/** An identity provider, and a server that accepts the JWTs of the provider. */
const jwts = share(async () => {
  const provider = await startIdentityProvider();
  await provider.addKey('first', 'RS256');
  const { publicKey } = await provider.addKey('public', 'RS256');
  for (const alg of algorithms) await provider.addKey(alg, alg);
  for (const [, kid, key] of badKeys) provider.publish({ ...key, kid, alg: 'RS256' });
  const server = await startServer(jwtSettings(provider));
  return {
    ...{ provider, server, publicKey },
    async stop() {
      await server.stop();
      await provider.stop();
    },
  };
});

/** Sends a create over REST and over tRPC. Expects equal outcomes. Returns 200, or the error code. */
async function outcomeOf(token: string, { url }: Pick<Target, 'url'> = jwts.server) {
  const sent = surfaces.map((surface) => surface.send({ url, token }, '{"id":1,"name":"x"}'));
  const [overRest, overTrpc] = (await Promise.all(sent)).map(({ error = 200 }) => error);
  expect(overTrpc).toBe(overRest);
  return overRest;
}

it.each([
  ...algorithms.map((kid) => [`with a signature of ${kid}`, { header: { kid } }]),
  ['for several audiences', { claims: { aud: ['other', 'plant-store'] } }],
  ['of the type at+jwt (RFC 9068)', { header: { typ: 'at+jwt' } }],
  ['of the type JWT', { header: { typ: 'JWT' } }],
  ['that expired within the clock tolerance', () => ({ claims: { exp: inSeconds(-1) } })],
  ['with 8 KB of claims', { claims: { groups: 'a'.repeat(8_000) } }],
] as [string, object | (() => object)][])('accepts a JWT %s', async (_case, change) => {
  const changes = typeof change === 'function' ? change() : change;
  expect(await outcomeOf(await jwts.provider.sign(changes))).toBe(200);
});

it.each([
  ['from another issuer', { claims: { iss: 'https://id.example.com' } }],
  ['without an issuer', { claims: { iss: undefined } }],
  ['for another audience', { claims: { aud: 'plant-store-2' } }],
  ['without an audience', { claims: { aud: undefined } }],
  ['that never expires', { claims: { exp: undefined } }],
  ['that has expired', { claims: { exp: inSeconds(-20) } }],
  ['that is not valid yet', { claims: { nbf: inSeconds(100_000) } }],
  ['without a subject', { claims: { sub: undefined } }],
  ['with an empty subject', { claims: { sub: '' } }],
  ['whose subject is a number', { claims: { sub: 5 } }],
  ['of the type logout+jwt', { header: { typ: 'logout+jwt' } }],
  ...badKeys.map(([what, kid]) => [`whose key ${what}`, { header: { kid } }] as const),
] as [string, object][])('rejects a JWT %s', async (_case, changes) => {
  expect(await outcomeOf(await jwts.provider.sign(changes))).toBe(40101);
});

it('rejects a JWT after its expiry, even when it was accepted before', async () => {
  const token = await jwts.provider.sign({ claims: { exp: inSeconds(1) } });
  expect(await outcomeOf(token)).toBe(200);
  await expect.poll(() => outcomeOf(token)).toBe(40101);
});

it.each([
  ['plants:read plants:delete', ['plants:read', 'plants:delete']],
  ['openid plants:read', ['plants:read']],
  ['plants:everything', []],
  ['openid my-plants:', ['plants:create']],
  [undefined, ['plants:create']],
  [
    ['openid', 'plants:read plants:delete'],
    ['plants:read', 'plants:delete'],
  ],
  [[], ['plants:create']],
  [['plants:read', 5], []],
  [{ 'plants:read': true }, []],
])('reads the scope claim %j as the scopes %j', async (scope, scopes) => {
  const exp = inSeconds(300);
  const token = await jwts.provider.sign({ claims: { sub: 'Ann', scope, exp } });
  for (const { call } of surfaces) {
    const { output } = await call({ ...jwts.server, token }, 'whoAmI');
    expect(output).toEqual({ name: 'Ann', scopes, expiresAt: new Date(exp * 1_000) });
  }
});

it('whoAmI has no expiresAt when the year of the expiry has more than four digits', async () => {
  const token = await jwts.provider.sign({ claims: { exp: 253_402_300_800 } });
  const { output } = await rest.call({ ...jwts.server, token }, 'whoAmI');
  expect(output).toEqual({ name: 'Ann', scopes: ['plants:create'] });
});

it('rejects a JWT that is malformed, or has no valid signature of the provider', async () => {
  const encode = (part: unknown) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const [header = '', claims = '', signature = ''] = (await jwts.provider.sign()).split('.');
  const payload = JSON.parse(Buffer.from(claims, 'base64url').toString());
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
  const spki = await exportSPKI(jwts.publicKey);
  const forge = (header: object, key: CryptoKey | Uint8Array = privateKey) =>
    jwts.provider.sign({ key, header: { alg: 'RS256', ...header } });
  for (const token of [
    ...['none', 'None', ''].map((alg) => `${encode({ alg, kid: 'first' })}.${claims}.`),
    `${header}.${encode({ ...payload, sub: 'admin' })}.${signature}`,
    `${encode({ alg: 'PS256', kid: 'first' })}.${claims}.${signature}`,
    `${header}.${claims}.${signature.slice(0, -4)}`,
    `${header}.${claims}`,
    `${encode({ alg: 'RS256', kid: 'first', enc: 'A256GCM' })}.a.b.c.d`,
    `${encode({ alg: 'RS256', kid: { a: 1 } })}.${claims}.AAAA`,
    `${encode(null)}.${encode(null)}.AAAA`,
    // This JWT uses the public key as a shared secret.
    await forge({ alg: 'HS256', kid: 'public' }, new TextEncoder().encode(spki)),
    await forge({}),
    await forge({ jwk: await exportJWK(publicKey) }),
  ]) {
    expect(await outcomeOf(token)).toBe(40101);
  }
});

describe('the identity provider', () => {
  it('does not have to respond when the server knows its keys', async () => {
    for (const mode of ['up', 'down', 'silent', 'up'] as const) {
      jwts.provider.mode = mode;
      expect(await outcomeOf(await jwts.provider.sign({ claims: { jti: mode } }))).toBe(200);
    }
  });

  it.each(['down', 'silent'] as const)(
    'causes the error 50303 for JWTs, but not for access tokens, when it is %s from the start',
    async (mode) => {
      const provider = await startIdentityProvider();
      await provider.addKey('first');
      provider.mode = mode;
      const server = await startServer(jwtSettings(provider));
      expect(await outcomeOf(await provider.sign(), server)).toBe(50303);
      const { output } = await rest.call(server, 'createAccessToken', { name: 'own' });
      for (const token of [server.token, Object(output).token]) {
        expect(await outcomeOf(token, server)).toBe(200);
      }
      await server.stop();
      await provider.stop();
    },
  );
});
