import { exportJWK, exportSPKI, generateKeyPair } from 'jose';
import { expect, it } from 'vitest';
import { startIdentityProvider } from '../fixtures/identity-provider.ts';
import { shareJwtServer } from '../fixtures/jwt-server.ts';

const jwts = shareJwtServer();

const encode = (part: unknown) => Buffer.from(JSON.stringify(part)).toString('base64url');

it.each(['none', 'None', 'nOnE', ''])(
  'rejects a JWT whose header names the algorithm %j',
  async (alg) => {
    const [, claims] = (await jwts.provider.sign()).split('.');
    for (const signature of ['', 'AAAA']) {
      const token = `${encode({ alg, kid: 'first' })}.${claims}.${signature}`;
      expect(await jwts.outcomeOf(token)).toBe(40101);
    }
  },
);

it('rejects a JWT that is signed with the public key as a shared secret', async () => {
  const { publicKey } = await jwts.provider.addKey('public', 'RS256');
  const { n = '', ...jwk } = await exportJWK(publicKey);
  const spki = await exportSPKI(publicKey);
  const secrets = [spki, spki.trim(), n, JSON.stringify({ n, ...jwk })];
  for (const secret of secrets) {
    const key = new TextEncoder().encode(secret);
    const token = await jwts.provider.sign({ key, header: { alg: 'HS256' } });
    expect(await jwts.outcomeOf(token)).toBe(40101);
  }
});

it('rejects a JWT that is signed with an unknown key, even when its header contains the key or a URL of the key', async () => {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
  const attacker = await startIdentityProvider();
  const jwk = await exportJWK(publicKey);
  const x5c = [Buffer.from(await exportSPKI(publicKey)).toString('base64')];
  const { jwksUrl } = attacker.settings;
  for (const more of [{}, { jwk }, { x5c }, { jku: jwksUrl }, { x5u: jwksUrl }]) {
    const forged = { key: privateKey, header: { alg: 'RS256', ...more } };
    expect(await jwts.outcomeOf(await jwts.provider.sign(forged))).toBe(40101);
  }
  expect(attacker.fetches).toBe(0);
  await attacker.stop();
});

it('rejects a JWT that was changed after it was signed', async () => {
  const [header = '', claims = '', signature = ''] = (await jwts.provider.sign()).split('.');
  const payload = JSON.parse(Buffer.from(claims, 'base64url').toString());
  const altered = encode({ ...payload, sub: 'admin' });
  const tokens = [
    `${header}.${altered}.${signature}`,
    `${encode({ alg: 'PS256', kid: 'first' })}.${claims}.${signature}`,
    `${header}.${claims}.${signature.slice(0, -4)}`,
    `${header}.${claims}.`,
    `${header}.${claims}.${signature}.${signature}`,
    `${header}.${claims}`,
    `${encode({ alg: 'RS256', kid: 'first', enc: 'A256GCM' })}.a.b.c.d`,
  ];
  for (const token of tokens) expect(await jwts.outcomeOf(token)).toBe(40101);
  expect(await jwts.outcomeOf(`${header}.${claims}.${signature}`)).toBe(200);
});

it.each([
  [null, {}],
  [{ alg: 'RS256', kid: 'first', crit: ['x'], x: 1 }, {}],
  [[], {}],
  [{ alg: 5 }, {}],
  [{ alg: 'RS256', kid: { a: 1 } }, {}],
  [{ alg: 'RS256', kid: 'first', typ: 5 }, null],
  [{ alg: 'RS256', kid: 'first', b64: false, crit: ['b64'] }, []],
])('rejects a JWT with the header %j and the claims %j', async (header, claims) => {
  expect(await jwts.outcomeOf(`${encode(header)}.${encode(claims)}.AAAA`)).toBe(40101);
});
