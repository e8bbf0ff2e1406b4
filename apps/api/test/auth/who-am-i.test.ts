import { scopes } from '@plant-store/schemas';
import { runSql } from '@plant-store/test-setup';
import { describe, expect, it } from 'vitest';
import { callers } from '../fixtures/callers.ts';
import { shareJwtServer } from '../fixtures/jwt-server.ts';

const jwts = shareJwtServer();
const tokenId = expect.stringMatching(/^[0-9a-f]{16}$/);

describe.each(callers)('over $name', ({ call }) => {
  const whoAmI = (token: string) => call({ ...jwts.server, token }, 'whoAmI', {});

  it('returns the name, the scopes and the expiry of an access token', async () => {
    const expiresAt = new Date('2100-01-02T03:04:05.678Z');
    const options = { scopes: ['plants:delete'], expiresAt } as const;
    const token = await jwts.server.store.accessTokens.create('gärtner 🌻', options);
    const { status, output } = await whoAmI(token);
    expect(status).toBe(200);
    expect(output).toStrictEqual({
      name: 'gärtner 🌻',
      scopes: ['plants:delete'],
      expiresAt,
      tokenId,
    });
  });

  it('returns no expiry for a token without an expiry', async () => {
    const token = await jwts.server.store.accessTokens.create('lasting');
    const lasting = { name: 'lasting', scopes: ['plants:create', 'plants:read'], tokenId };
    expect((await whoAmI(token)).output).toStrictEqual(lasting);
    expect((await whoAmI(jwts.server.token)).output).toStrictEqual({ name: 'tester', scopes });
  });

  it('returns the subject, the scopes and the expiry of a JWT', async () => {
    const exp = Math.floor(Date.now() / 1_000) + 300;
    const jwt = await jwts.provider.sign({ claims: { sub: 'ann', scope: 'plants:unknown', exp } });
    const expiresAt = new Date(exp * 1_000);
    expect((await whoAmI(jwt)).output).toStrictEqual({ name: 'ann', scopes: [], expiresAt });
  });

  it('returns no expiry when the year of the expiry has more than four digits', async () => {
    for (const exp of [253_402_300_800, 1e15]) {
      const jwt = await jwts.provider.sign({ claims: { sub: 'ann', exp } });
      expect((await whoAmI(jwt)).output).toStrictEqual({ name: 'ann', scopes: ['plants:create'] });
    }
  });

  it('returns no expiry when an operator has set the expiry of a token to infinity', async () => {
    const token = await jwts.server.store.accessTokens.create('infinite');
    const infinity = "update access_tokens set expires_at = 'infinity' where name = 'infinite'";
    await runSql(jwts.server.databaseUrl, infinity);
    const infinite = { name: 'infinite', scopes: ['plants:create', 'plants:read'], tokenId };
    expect((await whoAmI(token)).output).toStrictEqual(infinite);
  });
});
