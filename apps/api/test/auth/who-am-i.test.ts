import { scopes } from '@plant-store/schemas';
import { runSql } from '@plant-store/test-setup';
import { describe, expect, it } from 'vitest';
import { callers } from '../fixtures/callers.ts';
import { shareJwtServer } from '../fixtures/jwt-server.ts';

const jwts = shareJwtServer();

describe.each(callers)('over $name', ({ call }) => {
  const whoAmI = (token: string) => call({ ...jwts.server, token }, 'whoAmI', {});

  it('returns no id for a token that is not in the database', async () => {
    const { output } = await whoAmI(jwts.server.token);
    expect(output).toStrictEqual({ name: 'tester', scopes });
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
    const tokenId = expect.any(String);
    const infinite = { name: 'infinite', scopes: ['plants:create', 'plants:read'], tokenId };
    expect((await whoAmI(token)).output).toStrictEqual(infinite);
  });
});
