import { generateKeyPairSync } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { inSeconds, startJwtAuthentication, startJwtServer } from '../fixtures/jwt-server.ts';

describe('the check of a JWT', () => {
  let jwts: Awaited<ReturnType<typeof startJwtAuthentication>>;

  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'] });
    jwts = await startJwtAuthentication();
  });

  afterEach(async () => {
    vi.useRealTimers();
    await jwts.stop();
  });

  const pass = (seconds: number) => vi.advanceTimersByTime(seconds * 1000);

  /** Signs a JWT whose key ID the provider does not publish. */
  const withUnknownKey = () => jwts.provider.sign({ header: { kid: 'unknown' } });

  it.each([
    ['', 0],
    [', even after somebody has set the wall clock back by an hour', -3_600_000],
  ])('accepts a new key of the provider without a restart%s', async (_, shift) => {
    expect(await jwts.outcomeOf(await jwts.provider.sign())).toBe(200);
    await jwts.provider.addKey('second');
    jwts.provider.withdrawKey('first');
    vi.setSystemTime(Date.now() + shift);
    pass(11);
    expect(await jwts.outcomeOf(await jwts.provider.sign())).toBe(200);
    expect(jwts.provider.fetches).toBe(2);
  });

  it('rejects a key about ten minutes after the provider has withdrawn the key', async () => {
    const leaked = await jwts.provider.sign({ claims: { exp: inSeconds(3600) } });
    expect(await jwts.outcomeOf(leaked)).toBe(200);
    await jwts.provider.addKey('second');
    jwts.provider.withdrawKey('first');
    pass(600);
    await jwts.outcomeOf(leaked);
    await vi.waitFor(() => expect(jwts.provider.fetches).toBe(2));
    await vi.waitFor(async () => {
      pass(31); // A result stays in the cache for 30 seconds.
      expect(await jwts.outcomeOf(leaked)).toBe(40101);
    });
  });

  it('caches the keys of the provider for ten minutes, and then fetches them again', async () => {
    const fetches = vi.spyOn(globalThis, 'fetch');
    onTestFinished(() => fetches.mockRestore());
    pass(300);
    for (const [seconds, count] of [
      [0, 1],
      [599, 1],
      [1, 2],
    ] as const) {
      pass(seconds);
      expect(await jwts.outcomeOf(await jwts.provider.sign())).toBe(200);
      expect(fetches).toHaveBeenCalledTimes(count);
    }
  });

  it('accepts known keys while the identity provider is down', async () => {
    expect(await jwts.outcomeOf(await jwts.provider.sign())).toBe(200);
    jwts.provider.mode = 'down';
    pass(3600);
    for (let i = 0; i < 3; i++) {
      expect(await jwts.outcomeOf(await jwts.provider.sign({ claims: { jti: `${i}` } }))).toBe(200);
    }
    expect(await jwts.outcomeOf(await withUnknownKey())).toBe(50303);
    expect(jwts.provider.fetches).toBe(2);
  });

  it('fetches the keys again for an unknown key ID when the last fetch was at least ten seconds ago', async () => {
    expect(await jwts.outcomeOf(await jwts.provider.sign())).toBe(200);
    for (const [seconds, fetches] of [
      [9, 1],
      [1, 2],
    ] as const) {
      pass(seconds);
      expect(await jwts.outcomeOf(await withUnknownKey())).toBe(40101);
      expect(jwts.provider.fetches).toBe(fetches);
    }
  });

  it('fetches the keys again one second after a fetch that failed, and not earlier', async () => {
    jwts.provider.mode = 'down';
    const token = await jwts.provider.sign();
    expect(await jwts.outcomeOf(token)).toBe(50303);
    jwts.provider.mode = 'up';
    vi.advanceTimersByTime(999);
    await expect(jwts.authenticate(token)).rejects.toMatchObject({
      code: 50303,
      cause: { message: 'the last fetch failed less than a second ago' },
    });
    expect(jwts.provider.fetches).toBe(1);
    vi.advanceTimersByTime(1);
    expect(await jwts.outcomeOf(token)).toBe(200);
    expect(jwts.provider.fetches).toBe(2);
  });
});

/** Starts an identity provider and a server, which stop when the test is finished. */
async function startServer() {
  const jwts = await startJwtServer();
  onTestFinished(jwts.stop);
  return jwts;
}

it.each([
  ['sends nothing', 'silent', expect.any(String)],
  ['sends keys with the status 500', 'broken', expect.any(String)],
  ['sends keys without end', 'endless', 'the JWKS is over 1048576 bytes'],
] as const)('responds with 50303 when the provider %s', async (_what, mode, message) => {
  const jwts = await startServer();
  jwts.provider.mode = mode;
  expect(await jwts.outcomeOf(await jwts.provider.sign())).toBe(50303);
  const warning = { level: 40, errorCode: 50303, err: expect.objectContaining({ message }) };
  const lines = jwts.server.log.map((line) => JSON.parse(line));
  expect(lines).toContainEqual(expect.objectContaining(warning));
  expect(await jwts.outcomeOf(jwts.server.token)).toBe(200);
});

const rsaKeys = (modulusLength: number) => generateKeyPairSync('rsa', { modulusLength });

it.each([
  ['is weak', () => rsaKeys(1024).publicKey.export({ format: 'jwk' })],
  ['has no modulus', () => ({ kty: 'RSA', e: 'AQAB' })],
  ['has a modulus that is not base64url', () => ({ kty: 'RSA', n: '!', e: 'AQAB' })],
  ['has a modulus that is a number', () => ({ kty: 'RSA', n: 5, e: 'AQAB' })],
  ['is private', () => rsaKeys(2048).privateKey.export({ format: 'jwk' })],
])(
  'responds with 40101 when the key of a JWT %s, and logs that key once',
  async (_what, makeKey) => {
    const jwts = await startServer();
    jwts.provider.publish({ ...makeKey(), kid: 'bad', alg: 'RS256' });
    for (let i = 0; i < 3; i++) {
      const token = await jwts.provider.sign({ header: { kid: 'bad' }, claims: { jti: `${i}` } });
      expect(await jwts.outcomeOf(token)).toBe(40101);
    }
    const lines = jwts.server.log.map((line) => JSON.parse(line)).filter(({ level }) => level > 30);
    expect(lines).toEqual([
      expect.objectContaining({
        level: 40,
        errorCode: 40101,
        msg: 'the key "bad" of the identity provider cannot be used: replace it there',
      }),
    ]);
    expect(await jwts.outcomeOf(await jwts.provider.sign())).toBe(200);
  },
);
