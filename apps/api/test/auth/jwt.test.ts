import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { inSeconds, shareJwtServer, startJwtAuthentication } from '../fixtures/jwt-server.ts';
import { startServerOn } from '../fixtures/running-server.ts';

describe('a server that accepts JWTs', () => {
  const jwts = shareJwtServer();

  // The server and the tests share a process, so that the tests can move the clocks of the server.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance'] }));
  afterEach(() => void vi.useRealTimers());
  const pass = (seconds: number) => vi.advanceTimersByTime(seconds * 1000);

  it('accepts a JWT, and logs the subject of the JWT as the principal', async () => {
    expect(await jwts.outcomeOf(await jwts.provider.sign({ claims: { sub: 'Ann' } }))).toBe(200);
    expect(jwts.server.log.map((line) => JSON.parse(line).principal)).toContain('Ann');
  });

  it('accepts a static token that has the form of a JWT', async () => {
    const token = await jwts.provider.sign({ claims: { iss: 'somebody else' } });
    expect(await jwts.outcomeOf(token)).toBe(40101);
    const trusted = [{ name: 'environment', token }];
    const withTrusted = await startServerOn(jwts.server.store, {
      jwts: jwts.provider.settings,
      trusted,
    });
    expect(await jwts.outcomeOf(token, withTrusted)).toBe(200);
    await withTrusted.stop();
  });

  it('accepts JWTs that are signed with RSA, RSA-PSS, ECDSA or EdDSA', async () => {
    const algorithms = [
      ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
      ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
    ];
    for (const alg of algorithms) await jwts.provider.addKey(alg, alg);
    pass(11);
    for (const kid of algorithms) {
      expect(await jwts.outcomeOf(await jwts.provider.sign({ header: { kid } }))).toBe(200);
    }
  });

  it.each([
    ['for several audiences', () => ({ claims: { aud: ['other', 'plant-store'] } })],
    ['of the type at+jwt (RFC 9068)', () => ({ header: { typ: 'at+jwt' } })],
    ['of the type application/at+jwt', () => ({ header: { typ: 'application/at+JWT' } })],
    ['of the type JWT', () => ({ header: { typ: 'JWT' } })],
    ['that expired within the clock tolerance', () => ({ claims: { exp: inSeconds(-2) } })],
    ['with 8 KB of claims', () => ({ claims: { groups: 'a'.repeat(8_000) } })],
  ])('accepts a JWT %s', async (_case, change) => {
    expect(await jwts.outcomeOf(await jwts.provider.sign(change()))).toBe(200);
  });

  it.each([
    ['from another issuer', () => ({ claims: { iss: 'https://id.example.com' } })],
    ['without an issuer', () => ({ claims: { iss: undefined } })],
    ['for another audience', () => ({ claims: { aud: 'plant-store-2' } })],
    ['without an audience', () => ({ claims: { aud: undefined } })],
    ['for an empty list of audiences', () => ({ claims: { aud: [] } })],
    ['that never expires', () => ({ claims: { exp: undefined } })],
    ['that has expired', () => ({ claims: { exp: inSeconds(-6) } })],
    ['that is not valid yet', () => ({ claims: { nbf: inSeconds(30) } })],
    ['without a subject', () => ({ claims: { sub: undefined } })],
    ['with an empty subject', () => ({ claims: { sub: '' } })],
    ['whose subject is a number', () => ({ claims: { sub: 5 } })],
    ['of the type logout+jwt', () => ({ header: { typ: 'logout+jwt' } })],
    ['of the type dpop+jwt', () => ({ header: { typ: 'dpop+jwt' } })],
  ])('rejects a JWT %s', async (_case, change) => {
    expect(await jwts.outcomeOf(await jwts.provider.sign(change()))).toBe(40101);
  });

  it('rejects a JWT after its expiry, even when the result for this JWT is cached', async () => {
    const token = await jwts.provider.sign({ claims: { exp: inSeconds(10) } });
    expect(await jwts.outcomeOf(token)).toBe(200);
    pass(16);
    expect(await jwts.outcomeOf(token)).toBe(40101);
  });
});

describe('the authentication by JWTs', () => {
  const other = { name: 'from the store', scopes: [] };
  let jwts: Awaited<ReturnType<typeof startJwtAuthentication>>;

  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'] });
    jwts = await startJwtAuthentication(() => other);
  });

  afterEach(async () => {
    vi.useRealTimers();
    await jwts.stop();
  });

  it.each([
    ['plants:read plants:delete', ['plants:read', 'plants:delete']],
    ['openid plants:read', ['plants:read']],
    ['plants:everything', []],
    ['plants:everything plants:read', ['plants:read']],
    ['openid my-plants:', ['plants:create']],
    ['', ['plants:create']],
    [undefined, ['plants:create']],
    [['plants:read'], ['plants:read']],
    [
      ['openid', 'plants:read plants:delete'],
      ['plants:read', 'plants:delete'],
    ],
    [['openid'], ['plants:create']],
    [[], ['plants:create']],
    [['plants:read', 5], []],
    [null, []],
    [true, []],
    [7, []],
    [{ 'plants:read': true }, []],
  ])('reads the scope claim %j as the scopes %j', async (scope, scopes) => {
    const token = await jwts.provider.sign({ claims: { sub: 'Ann', scope } });
    expect(await jwts.authenticate(token)).toMatchObject({ name: 'Ann', scopes });
  });

  it('looks up a token in the store only when the token is not a JWT', async () => {
    const token = await jwts.provider.sign({ claims: { iss: 'somebody else' } });
    expect(await jwts.authenticate(token)).toBeUndefined();
    for (const text of [`x${token}`, `${token}.x`, `${token}=`, token.replace(/\..*/, '')]) {
      expect(await jwts.authenticate(text)).toBe(other);
    }
  });

  it.each([
    ['the key "bad"', { alg: 'RS256', kid: 'bad' }],
    ['the key', { alg: 'RS256' }],
  ])('throws an error with a cause when %s of the provider cannot be used', async (key, header) => {
    jwts.provider.withdrawKey('first');
    jwts.provider.publish({ kty: 'RSA', e: 'AQAB', alg: 'RS256', kid: 'bad' });
    const [head, claims] = [header, {}].map((part) => encode(part));
    await expect(jwts.authenticate(`${head}.${claims}.AAAA`)).rejects.toMatchObject({
      kind: 'tokenInvalid',
      cause: {
        message: `${key} of the identity provider cannot be used: replace it there`,
        cause: expect.any(Error),
      },
    });
  });

  it('accepts a cached JWT for 30 seconds, even when the provider has withdrawn the key of the JWT', async () => {
    const cached = await jwts.provider.sign();
    expect(await jwts.outcomeOf(cached)).toBe(200);
    await jwts.provider.addKey('second');
    jwts.provider.withdrawKey('first');
    vi.advanceTimersByTime(11_000);
    expect(await jwts.outcomeOf(await jwts.provider.sign())).toBe(200);
    expect(await jwts.outcomeOf(cached)).toBe(200);
    vi.advanceTimersByTime(19_000);
    expect(await jwts.outcomeOf(cached)).toBe(40101);
  });
});

const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
