import { createHash } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Scope } from '@plant-store/schemas';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createCaller } from '../../src/procedures/router.ts';
import { holdOpen, openAnother, openForSuite } from '../fixtures/open-store.ts';
import { newPlants } from '../fixtures/plants.ts';
import { profiles } from '../fixtures/profiles.ts';

const defaultScopes: Scope[] = ['plants:create', 'plants:read'];
const hour = 3_600_000;

describe.each(profiles)('accessTokens on $name', (profile) => {
  const suite = openForSuite(profile);
  const tokens = () => suite.store.accessTokens;

  const find = async (name: string) => {
    let page = await tokens().list({ limit: 100 });
    for (;;) {
      const found = page.tokens.find((token) => token.name === name);
      if (found || page.next === undefined) return found;
      page = await tokens().list({ limit: 100, after: page.next });
    }
  };

  it('creates tokens that have a prefix and 256 random bits', async () => {
    const [one, other] = [await tokens().create('Gil'), await tokens().create('Gil')];
    expect(one).toMatch(/^plant_[\w-]{43}$/);
    expect(other).not.toBe(one);
  });

  it('authenticates a token, and returns its owner and its scopes', async () => {
    const token = await tokens().create('Ann');
    const tokenId = (await find('Ann'))?.id;
    for (let i = 0; i < 2; i++) {
      const principal = { name: 'Ann', scopes: defaultScopes, tokenId };
      expect(await tokens().authenticate(token)).toEqual(principal);
    }
    const all = await tokens().create('Bea', { scopes: ['plants:delete', 'tokens:manage'] });
    expect(await tokens().authenticate(all)).toMatchObject({
      scopes: ['plants:delete', 'tokens:manage'],
    });
  });

  it('rejects unknown tokens', async () => {
    const token = await tokens().create('Cleo');
    const unknown = ['', 'plant_', 'Cleo', token.slice(0, -1), `${token}x`, token.toLowerCase()];
    for (const each of unknown) expect(await tokens().authenticate(each)).toBeUndefined();
  });

  it('records when a token was last used', async () => {
    const token = await tokens().create('Mia');
    expect(await find('Mia')).not.toHaveProperty('lastUsedAt');
    await tokens().authenticate(token);
    await expect.poll(async () => (await find('Mia'))?.lastUsedAt).toBeInstanceOf(Date);
  });

  it('rejects a token after its expiry', async () => {
    const token = await tokens().create('Ida', { expiresAt: new Date(Date.now() + 1_500) });
    expect(await tokens().authenticate(token)).toMatchObject({ expiresAt: expect.any(Date) });
    await expect.poll(() => tokens().authenticate(token)).toBeUndefined();
    const expiresAt = new Date(Date.now() + hour);
    const later = await tokens().create('Ida later', { expiresAt });
    expect(await tokens().authenticate(later)).toMatchObject({ expiresAt });
    expect(await find('Ida later')).toMatchObject({ expiresAt });
  });

  it('revokes all tokens of a name immediately, and no other tokens', async () => {
    const both = [await tokens().create('Kim'), await tokens().create('Kim')];
    const other = await tokens().create('Leo');
    for (const token of [...both, other]) {
      expect(await tokens().authenticate(token)).toBeDefined();
    }
    expect(await tokens().revoke('Kim')).toBe(true);
    for (const token of both) expect(await tokens().authenticate(token)).toBeUndefined();
    expect(await tokens().authenticate(other)).toMatchObject({ name: 'Leo' });
    expect(await tokens().revoke('Kim')).toBe(false);
    expect(await tokens().revoke('nobody')).toBe(false);
    expect(await find('Kim')).toMatchObject({ revokedAt: expect.any(Date) });
  });

  it('lists the newest tokens first, in pages', async () => {
    const names = ['first', 'second', 'third'].map((name) => `list ${name}`);
    for (const name of names) {
      await tokens().create(name);
      await setTimeout(5); // The clock of PGlite counts whole milliseconds.
    }
    const newest = await tokens().list({ limit: 2 });
    expect(newest.tokens.map(({ name }) => name)).toEqual([names[2], names[1]]);
    const next = await tokens().list({ limit: 1, ...(newest.next && { after: newest.next }) });
    expect(next.tokens).toEqual([
      {
        id: expect.any(String),
        name: names[0],
        scopes: defaultScopes,
        createdAt: expect.any(Date),
      },
    ]);
    expect(await tokens().list({ after: '0'.repeat(16) })).toEqual({ tokens: [] });
  });

  const ofText = 'must have 1 to 100 characters and no control characters';

  it.each([
    ['', {}, `name ${ofText}`],
    ['a\nb', {}, `name ${ofText}`],
    ['\ud800', {}, `name ${ofText}`],
    ['x'.repeat(101), {}, `name ${ofText}`],
    [5, {}, 'name must be a string'],
    ['Hal', { expiresAt: new Date(0) }, 'expiresAt must be in the future'],
    ['Hal', { expiresAt: new Date('') }, 'expiresAt must be a date'],
    ['Hal', { scopes: [] }, 'scopes must have at least one'],
    ['Hal', { scopes: ['plants:water'] }, 'scopes'],
  ])('rejects a token with the name %j and the options %o', async (name, options, message) => {
    // Untyped code can pass any values.
    await expect(tokens().create(name as string, options as object)).rejects.toMatchObject({
      code: 40001,
      message: expect.stringContaining(`invalid input: ${message}`),
    });
  });

  it('keeps a valid token in the cache while a flood of unknown tokens arrives', async () => {
    const token = await tokens().create('Pia');
    await tokens().authenticate(token);
    for (let i = 0; i < 4; i++) {
      const guesses = Array.from({ length: 6_000 }, (_, j) => `plant_${i}${j}`.padEnd(49, 'x'));
      const found = await Promise.all(guesses.map((guess) => tokens().authenticate(guess)));
      expect(new Set(found)).toEqual(new Set([undefined]));
    }
    if (!profile.hasSql) return;
    // While the table is missing, only a token that is still cached can be authenticated.
    await suite.sql`alter table access_tokens rename to moved`;
    expect(await tokens().authenticate(token)).toMatchObject({ name: 'Pia' });
    await suite.sql`alter table moved rename to access_tokens`;
  });

  describe('createAccessToken', () => {
    const as = (scopes: Scope[], more: { tokenId?: string; expiresAt?: Date } = {}) =>
      createCaller({ store: suite.store, principal: { name: 'Zoë', scopes, ...more } });

    it('rejects a caller whose token was revoked', async () => {
      await tokens().create('Rex', { scopes: ['tokens:manage'] });
      const tokenId = (await find('Rex'))?.id ?? '';
      await tokens().revoke({ id: tokenId });
      const caller = as(['tokens:manage'], { tokenId });
      const creating = caller.createAccessToken({ name: 'Rex 2', scopes: ['tokens:manage'] });
      await expect(creating).rejects.toMatchObject({ kind: 'tokenInvalid' });
      const rex = await find('Rex 2');
      expect(rex === undefined || rex.revokedAt !== undefined).toBe(true);
    });
  });

  if (profile.hasInstances) {
    it('revokes a token on other instances within 30 seconds', async () => {
      const restore = moveClocks();
      const other = await openAnother(suite.options);
      const token = await tokens().create('Dora');
      const unknown = 'plant_unknown';
      for (const each of [token, unknown]) await other.accessTokens.authenticate(each);
      await tokens().revoke('Dora');
      restore.advance(30_000);
      expect(await other.accessTokens.authenticate(token)).toBeUndefined();
    });
  }

  if (!profile.hasSql) return;

  it('stores only the SHA-256 of a token', async () => {
    const token = await tokens().create('Ben');
    const rows = await suite.sql`select a::text as row from access_tokens a where name = 'Ben'`;
    expect(rows).toHaveLength(1);
    expect(rows[0]?.['row']).toContain(createHash('sha256').update(token).digest('hex'));
    expect(rows[0]?.['row']).not.toContain(token.slice(6));
  });

  it('delays no call while the update of lastUsedAt waits for a lock', async () => {
    const names = Array.from({ length: 10 }, (_, i) => `Quin ${i}`);
    const created = await Promise.all(names.map((name) => tokens().create(name)));
    const release = await holdOpen(suite.sql, 'lock table access_tokens in share mode');
    for (const token of created) {
      expect(await tokens().authenticate(token)).toMatchObject({ scopes: defaultScopes });
      await suite.store.create(newPlants(1)[0] ?? { id: 0n, name: '' });
    }
    await release();
    await expect.poll(async () => (await find('Quin 9'))?.lastUsedAt).toBeInstanceOf(Date);
  });

  it('throws an error instead of rejecting a valid token when the table is missing', async () => {
    const token = await tokens().create('Fay');
    await suite.sql`alter table access_tokens rename to moved`;
    const error = await Promise.resolve(tokens().authenticate(token)).catch((thrown) => thrown);
    await suite.sql`alter table moved rename to access_tokens`;
    expect(error).toMatchObject({ kind: 'databaseUnavailable', code: 50300 });
    expect(error.message).not.toMatch(/select|access_tokens/i);
    expect(await tokens().authenticate(token)).toMatchObject({ name: 'Fay' });
  });
});

/** Replaces the clocks of this process until the end of the test. `advance` moves the clocks forward. */
function moveClocks() {
  let ahead = 0;
  const [now, elapsed] = [Date.now.bind(Date), performance.now.bind(performance)];
  const spies = [
    vi.spyOn(Date, 'now').mockImplementation(() => now() + ahead),
    vi.spyOn(performance, 'now').mockImplementation(() => elapsed() + ahead),
  ];
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore();
  });
  return {
    advance(milliseconds: number) {
      ahead += milliseconds;
    },
  };
}
