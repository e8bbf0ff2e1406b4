import { generateKeyPairSync } from 'node:crypto';
import { exportJWK, exportSPKI, generateKeyPair } from 'jose';
import { describe, expect, it } from 'vitest';
import { inSeconds, jwtSettings, startIdentityProvider } from '../fixtures/identity-provider.ts';
import { share, startServer, type Target } from '../fixtures/server.ts';
import { rest, surfaces } from '../fixtures/surfaces.ts';

const algorithms = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

const rsaKeys = (modulusLength: number) => generateKeyPairSync('rsa', { modulusLength });

/** Keys of the provider that the server must not use. */
const badKeys: Record<string, object> = {
  'is weak': rsaKeys(1024).publicKey.export({ format: 'jwk' }),
  'has no modulus': { kty: 'RSA', e: 'AQAB' },
  'has a modulus that is not base64url': { kty: 'RSA', n: '!', e: 'AQAB' },
  'has a modulus that is a number': { kty: 'RSA', n: 5, e: 'AQAB' },
  'is private': rsaKeys(2048).privateKey.export({ format: 'jwk' }),
};

/** An identity provider, and a server that accepts the JWTs of the provider. */
const jwts = share(async () => {
  const provider = await startIdentityProvider();
  await provider.addKey('first', 'RS256');
  const { publicKey } = await provider.addKey('public', 'RS256');
  for (const alg of algorithms) await provider.addKey(alg, alg);
  for (const [kid, key] of Object.entries(badKeys)) provider.publish({ ...key, kid, alg: 'RS256' });
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
  ['from another issuer', { iss: 'https://id.example.com' }],
  ['without an issuer', { iss: undefined }],
  ['for another audience', { aud: 'plant-store-2' }],
  ['without an audience', { aud: undefined }],
  ['for an empty list of audiences', { aud: [] }],
  ['that never expires', { exp: undefined }],
  ['that has expired', { exp: inSeconds(-20) }],
  ['that is not valid yet', { nbf: inSeconds(100_000) }],
  ['without a subject', { sub: undefined }],
  ['with an empty subject', { sub: '' }],
  ['whose subject is a number', { sub: 5 }],
])('rejects a JWT %s', async (_case, claims) => {
  expect(await outcomeOf(await jwts.provider.sign({ claims }))).toBe(40101);
});

it.each(['logout+jwt', 'dpop+jwt'])('rejects a JWT of the type %s', async (typ) => {
  expect(await outcomeOf(await jwts.provider.sign({ header: { typ } }))).toBe(40101);
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
  ['plants:everything plants:read', ['plants:read']],
  ['openid my-plants:', ['plants:create']],
  ['', ['plants:create']],
  [undefined, ['plants:create']],
  [
    ['openid', 'plants:read plants:delete'],
    ['plants:read', 'plants:delete'],
  ],
  [['openid'], ['plants:create']],
  [[], ['plants:create']],
  [['plants:read', 5], []],
  [null, []],
  [7, []],
  [{ 'plants:read': true }, []],
])('reads the scope claim %j as the scopes %j', async (scope, scopes) => {
  const exp = inSeconds(300);
  const token = await jwts.provider.sign({ claims: { sub: 'Ann', scope, exp } });
  for (const { call } of surfaces) {
    const { output } = await call({ ...jwts.server, token }, 'whoAmI');
    expect(output).toEqual({ name: 'Ann', scopes, expiresAt: new Date(exp * 1_000) });
  }
});

it('names no expiry in whoAmI when the year of the expiry has more than four digits', async () => {
  const token = await jwts.provider.sign({ claims: { exp: 253_402_300_800 } });
  const { output } = await rest.call({ ...jwts.server, token }, 'whoAmI');
  expect(output).toEqual({ name: 'Ann', scopes: ['plants:create'] });
});

describe('a forged JWT', () => {
  const encode = (part: unknown) => Buffer.from(JSON.stringify(part)).toString('base64url');

  it('is rejected when it is not signed, or was changed after it was signed', async () => {
    const [header = '', claims = '', signature = ''] = (await jwts.provider.sign()).split('.');
    const payload = JSON.parse(Buffer.from(claims, 'base64url').toString());
    const unsigned = ['none', 'None', 'nOnE', ''].map((alg) => encode({ alg, kid: 'first' }));
    const tokens = [
      ...unsigned.flatMap((none) => [`${none}.${claims}.`, `${none}.${claims}.AAAA`]),
      `${header}.${encode({ ...payload, sub: 'admin' })}.${signature}`,
      `${encode({ alg: 'PS256', kid: 'first' })}.${claims}.${signature}`,
      `${header}.${claims}.${signature.slice(0, -4)}`,
      `${header}.${claims}.`,
      `${header}.${claims}.${signature}.${signature}`,
      `${header}.${claims}`,
      `${encode({ alg: 'RS256', kid: 'first', enc: 'A256GCM' })}.a.b.c.d`,
    ];
    for (const token of tokens) expect(await outcomeOf(token)).toBe(40101);
  });

  it('is rejected when the public key is used as a shared secret', async () => {
    const { n = '', ...jwk } = await exportJWK(jwts.publicKey);
    const spki = await exportSPKI(jwts.publicKey);
    for (const secret of [spki, spki.trim(), n, JSON.stringify({ n, ...jwk })]) {
      const key = new TextEncoder().encode(secret);
      const token = await jwts.provider.sign({ key, header: { alg: 'HS256', kid: 'public' } });
      expect(await outcomeOf(token)).toBe(40101);
    }
  });

  it('is rejected even when its header contains its key or a URL of its key', async () => {
    const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
    const attacker = await startIdentityProvider();
    const jwk = await exportJWK(publicKey);
    const x5c = [Buffer.from(await exportSPKI(publicKey)).toString('base64')];
    const { jwksUrl } = attacker;
    for (const more of [{}, { jwk }, { x5c }, { jku: jwksUrl }, { x5u: jwksUrl }]) {
      const forged = { key: privateKey, header: { alg: 'RS256', ...more } };
      expect(await outcomeOf(await jwts.provider.sign(forged))).toBe(40101);
    }
    expect(attacker.fetches).toBe(0);
    await attacker.stop();
  });

  it.each([
    [null, {}],
    [{ alg: 'RS256', kid: 'first', crit: ['x'], x: 1 }, {}],
    [[], {}],
    [{ alg: 5 }, {}],
    [{ alg: 'RS256', kid: { a: 1 } }, {}],
    [{ alg: 'RS256', kid: 'first', typ: 5 }, null],
  ])('is rejected with the header %j and the claims %j', async (header, claims) => {
    expect(await outcomeOf(`${encode(header)}.${encode(claims)}.AAAA`)).toBe(40101);
  });
});

describe('the identity provider', () => {
  it.each(Object.keys(badKeys))('cannot make the server use a key that %s', async (kid) => {
    expect(await outcomeOf(await jwts.provider.sign({ header: { kid } }))).toBe(40101);
    expect(await outcomeOf(await jwts.provider.sign())).toBe(200);
  });

  it('may be down or silent while its known keys stay in use', async () => {
    for (const mode of ['up', 'down', 'silent', 'up'] as const) {
      jwts.provider.mode = mode;
      expect(await outcomeOf(await jwts.provider.sign({ claims: { jti: mode } }))).toBe(200);
    }
  });

  it.each(['down', 'silent'] as const)(
    'causes the error 50303 when it is %s from the start, but not for other tokens',
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
