import { exportJWK, exportSPKI, generateKeyPair } from 'jose';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type IdentityProvider, startIdentityProvider } from '../fixtures/identity-provider.ts';
import { type RunningServer, startServer, startServerOn } from '../fixtures/running-server.ts';
import { post, surfaces, type Target } from '../fixtures/surfaces.ts';

let provider: IdentityProvider;
let server: RunningServer;

async function open() {
  provider = await startIdentityProvider();
  await provider.addKey('first', 'RS256');
  server = await startServer('Postgres', { jwts: provider.settings });
}

async function close() {
  await server.stop();
  await provider.stop();
}

/** What both surfaces answer to a token: 200, or the number of the error. */
async function answerTo(token: string, target: Target = server): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  const replies = await Promise.all(
    surfaces.map((surface) => surface.send(target, '{"id":1,"name":"x"}', headers)),
  );
  const [rest, trpc] = replies.map(({ status, body }) =>
    status === 200 ? 200 : Object(body).error,
  );
  expect(trpc).toBe(rest);
  return rest;
}

const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;

// The clocks, which are the server's too, stand still unless they are moved; nothing is waited for.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance'] }));
afterEach(() => void vi.useRealTimers());
const pass = (seconds: number) => vi.advanceTimersByTime(seconds * 1000);

describe('a JWT of the identity provider', () => {
  beforeAll(open);
  afterAll(close);

  it('opens the store to its subject, beside the access tokens of the store', async () => {
    expect(await answerTo(await provider.sign({ claims: { sub: 'Ann' } }))).toBe(200);
    expect(server.log.map((line) => JSON.parse(line).principal)).toContain('Ann');
    expect(await answerTo(await server.store.accessTokens.create('Ben'))).toBe(200);
    expect(await answerTo(server.token)).toBe(200);
  });

  it('leaves a token that is always accepted alone, even one that looks like it', async () => {
    const token = await provider.sign({ claims: { iss: 'somebody else' } });
    expect(await answerTo(token)).toBe(40101);
    const trusted = [{ name: 'environment', token }];
    const trusting = await startServerOn(server.store, { jwts: provider.settings, trusted });
    expect(await answerTo(token, trusting)).toBe(200);
    await trusting.stop();
  });

  it('may be signed by RSA, by RSA-PSS, by ECDSA or by EdDSA', async () => {
    const algorithms = ['RS512', 'PS256', 'ES384', 'EdDSA'];
    for (const alg of algorithms) await provider.addKey(alg, alg);
    pass(11);
    for (const kid of algorithms) {
      expect(await answerTo(await provider.sign({ header: { kid } }))).toBe(200);
    }
  });

  it.each([
    ['of several audiences', () => ({ claims: { aud: ['other', 'plant-store'] } })],
    ['of the type that RFC 9068 gives access tokens', () => ({ header: { typ: 'at+jwt' } })],
    ['of the type JWT', () => ({ header: { typ: 'JWT' } })],
    ['that has expired just now by our clock', () => ({ claims: { exp: inSeconds(-2) } })],
    ['that has a lot to say', () => ({ claims: { groups: 'a'.repeat(8_000) } })],
  ])('is accepted: one %s', async (_what, change) => {
    expect(await answerTo(await provider.sign(change()))).toBe(200);
  });

  it.each([
    ['of another issuer', () => ({ claims: { iss: 'https://id.example.com' } })],
    ['of no issuer', () => ({ claims: { iss: undefined } })],
    ['for another audience', () => ({ claims: { aud: 'plant-store-2' } })],
    ['for no audience', () => ({ claims: { aud: undefined } })],
    ['for an empty list of audiences', () => ({ claims: { aud: [] } })],
    ['that never expires', () => ({ claims: { exp: undefined } })],
    ['that has expired', () => ({ claims: { exp: inSeconds(-6) } })],
    ['that is not valid yet', () => ({ claims: { nbf: inSeconds(30) } })],
    ['of nobody', () => ({ claims: { sub: undefined } })],
    ['of somebody without a name', () => ({ claims: { sub: '' } })],
    ['that is a logout token', () => ({ header: { typ: 'logout+jwt' } })],
    ['that is a proof of possession', () => ({ header: { typ: 'dpop+jwt' } })],
  ])('is refused: one %s', async (_what, change) => {
    expect(await answerTo(await provider.sign(change()))).toBe(40101);
  });

  it('is refused once it expires, though it is remembered', async () => {
    const token = await provider.sign({ claims: { exp: inSeconds(10) } });
    expect(await answerTo(token)).toBe(200);
    pass(16);
    expect(await answerTo(token)).toBe(40101);
  });

  it('is refused when it is larger than the headers may be', async () => {
    const token = await provider.sign({ claims: { groups: 'a'.repeat(16_000) } });
    for (const { path } of surfaces) {
      expect((await post({ ...server, token }, path, '{}')).status).toBe(431);
    }
  });
});

describe('a forged JWT', () => {
  beforeAll(open);
  afterAll(close);

  const encode = (part: unknown) => Buffer.from(JSON.stringify(part)).toString('base64url');

  it.each(['none', 'None', 'nOnE', ''])('is refused that names the algorithm %j', async (alg) => {
    const [, claims] = (await provider.sign()).split('.');
    for (const signature of ['', 'AAAA']) {
      const token = `${encode({ alg, kid: 'first' })}.${claims}.${signature}`;
      expect(await answerTo(token)).toBe(40101);
    }
  });

  it('is refused that takes the public key for a secret', async () => {
    const { publicKey } = await provider.addKey('public', 'RS256');
    const { n = '', ...jwk } = await exportJWK(publicKey);
    const spki = await exportSPKI(publicKey);
    const secrets = [spki, spki.trim(), n, JSON.stringify({ n, ...jwk })];
    for (const secret of secrets) {
      const key = new TextEncoder().encode(secret);
      expect(await answerTo(await provider.sign({ key, header: { alg: 'HS256' } }))).toBe(40101);
    }
  });

  it('is refused that is signed by a key of its own, whatever it says of that', async () => {
    const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
    const thief = await startIdentityProvider();
    const jwk = await exportJWK(publicKey);
    const x5c = [Buffer.from(await exportSPKI(publicKey)).toString('base64')];
    for (const header of [
      {},
      { jwk },
      { x5c },
      { jku: thief.settings.jwksUrl },
      { x5u: thief.settings.jwksUrl },
    ]) {
      const token = await provider.sign({ key: privateKey, header: { alg: 'RS256', ...header } });
      expect(await answerTo(token)).toBe(40101);
    }
    expect(thief.asked).toBe(0);
    await thief.stop();
  });

  it('is refused that was altered after it was signed', async () => {
    const [header = '', claims = '', signature = ''] = (await provider.sign()).split('.');
    const said = JSON.parse(Buffer.from(claims, 'base64url').toString());
    const altered = encode({ ...said, sub: 'admin' });
    const tokens = [
      `${header}.${altered}.${signature}`,
      `${encode({ alg: 'PS256', kid: 'first' })}.${claims}.${signature}`,
      `${header}.${claims}.${signature.slice(0, -4)}`,
      `${header}.${claims}.`,
      `${header}.${claims}.${signature}.${signature}`,
      `${header}.${claims}`,
      `${encode({ alg: 'RS256', kid: 'first', enc: 'A256GCM' })}.a.b.c.d`,
    ];
    for (const token of tokens) expect(await answerTo(token)).toBe(40101);
    expect(await answerTo(`${header}.${claims}.${signature}`)).toBe(200);
  });

  it.each([
    [null, {}],
    [{ alg: 'RS256', kid: 'first', crit: ['x'], x: 1 }, {}],
    [[], {}],
    [{ alg: 5 }, {}],
    [{ alg: 'RS256', kid: { a: 1 } }, {}],
    [{ alg: 'RS256', kid: 'first', typ: 5 }, null],
    [{ alg: 'RS256', kid: 'first', b64: false, crit: ['b64'] }, []],
  ])('is refused whose parts are %j and %j', async (header, claims) => {
    expect(await answerTo(`${encode(header)}.${encode(claims)}.AAAA`)).toBe(40101);
  });
});

describe('the keys of the identity provider', () => {
  beforeEach(open);
  afterEach(close);

  const unknown = () => provider.sign({ header: { kid: 'unknown' } });

  it('may change without a restart', async () => {
    const before = await provider.sign();
    expect(await answerTo(before)).toBe(200);
    await provider.addKey('second');
    provider.withdrawKey('first');
    pass(11);
    expect(await answerTo(await provider.sign())).toBe(200);
    expect(provider.asked).toBe(2);
  });

  it('are not accepted for long once they are withdrawn', async () => {
    const leaked = await provider.sign({ claims: { exp: inSeconds(3600) } });
    expect(await answerTo(leaked)).toBe(200);
    await provider.addKey('second');
    provider.withdrawKey('first');
    pass(600);
    await answerTo(leaked); // Has them fetched anew.
    await vi.waitFor(() => expect(provider.asked).toBe(2));
    pass(31);
    await vi.waitFor(async () => expect(await answerTo(leaked)).toBe(40101));
  });

  it('go on working while the provider is down', async () => {
    expect(await answerTo(await provider.sign())).toBe(200);
    provider.mode = 'down';
    pass(3600);
    for (let i = 0; i < 3; i++) {
      expect(await answerTo(await provider.sign({ claims: { jti: `${i}` } }))).toBe(200);
    }
    expect(await answerTo(await unknown())).toBe(50303);
    expect(provider.asked).toBe(2);
  });

  it('are fetched as soon as a provider that was down is there', async () => {
    provider.mode = 'down';
    const token = await provider.sign();
    const headers = { authorization: `Bearer ${token}` };
    for (const surface of surfaces) {
      const reply = await surface.send(server, '{"id":1,"name":"x"}', headers);
      expect(reply.status).toBe(503);
      expect(reply.headers.get('retry-after')).toBe('1');
      expect(reply.body).toEqual({
        error: 50303,
        message: 'the identity provider did not answer: try again',
      });
    }
    provider.mode = 'up';
    pass(1);
    expect(await answerTo(token)).toBe(200);
  });

  it('are not waited for beyond the deadline', async () => {
    provider.mode = 'silent';
    expect(await answerTo(await provider.sign())).toBe(50303);
    expect(await answerTo(server.token)).toBe(200);
  });

  it.each([
    ['up', 40101],
    ['down', 50303],
  ] as const)(
    'are not fetched for each of many unknown ones while it is %s',
    async (mode, answer) => {
      expect(await answerTo(await provider.sign())).toBe(200);
      pass(11);
      provider.mode = mode;
      for (let i = 0; i < 20; i++) {
        const header = { kid: `unknown ${i}` };
        expect(await answerTo(await provider.sign({ header }))).toBe(answer);
      }
      expect(provider.asked).toBe(2);
    },
  );
});
