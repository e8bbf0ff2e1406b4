import { createHash } from 'node:crypto';
import type { AccessTokenPage } from '@plant-store/schemas';
import { describe, expect, it } from 'vitest';
import { callers } from './fixtures/callers.ts';
import { shareServer } from './fixtures/running-server.ts';

describe.each(callers)('the calls that manage access tokens over $name', (caller) => {
  const server = shareServer();

  const call = (token: string, ...[procedure, input]: [Procedure, Input?]) =>
    caller.call({ url: server.url, token }, procedure, input ?? {});
  const list = async (query: Input = {}) => {
    const { output } = await call(server.token, 'listAccessTokens', query);
    return output as AccessTokenPage;
  };
  const find = async (id: string) => (await list()).tokens.find((each) => each.id === id);
  const create = async (input: Input, token = server.token) => {
    const { output } = await call(token, 'createAccessToken', input);
    return output as { id: string; token: string };
  };
  const managerScopes = ['tokens:manage', 'plants:read'];

  it('creates a token that works, and lists it without the token or its hash', async () => {
    const expiresAt = '2100-01-02T04:04:05.678+01:00';
    const input = { name: 'gärtner 🌻', scopes: ['plants:read', 'plants:read'], expiresAt };
    const { id, token } = await create(input);
    expect(token).toMatch(/^plant_[\w-]{43}$/);
    const identity = {
      ...{ name: 'gärtner 🌻', scopes: ['plants:read'] },
      expiresAt: new Date(expiresAt),
    };
    expect((await call(token, 'whoAmI')).output).toStrictEqual({ ...identity, tokenId: id });
    const listed = await find(id);
    expect(listed).toMatchObject({ ...identity, createdAt: expect.any(Date) });
    expect(listed).not.toHaveProperty('revokedAt');
    const text = JSON.stringify(await list());
    expect(text).not.toContain(token);
    expect(text).not.toContain(createHash('sha256').update(token).digest('hex'));
    expect(server.log.join('')).not.toContain(token);
  });

  it('gives a new token the scopes to create and read, and no expiry', async () => {
    const { id, token } = await create({ name: 'usual' });
    const usual = { name: 'usual', scopes: ['plants:create', 'plants:read'], tokenId: id };
    expect((await call(token, 'whoAmI')).output).toStrictEqual(usual);
  });

  it('rejects a new token with a scope that the token of the caller does not have', async () => {
    const { token } = await create({ name: 'manager', scopes: managerScopes });
    expect(await create({ name: 'same', scopes: managerScopes }, token)).toBeDefined();
    for (const scopes of [['plants:read', 'plants:delete'], undefined]) {
      const more = await call(token, 'createAccessToken', {
        name: 'more',
        ...(scopes && { scopes }),
      });
      expect(more).toMatchObject({ status: 403, error: 40300 });
    }
    expect((await list()).tokens.map(({ name }) => name)).not.toContain('more');
  });

  it('rejects a new token that would expire later than the token of the caller', async () => {
    const expiresAt = '2100-01-01T00:00:00.000Z';
    const { token } = await create({ name: 'manager', scopes: managerScopes, expiresAt });
    const input = { name: 'heir', scopes: ['plants:read'] };
    expect(await create({ ...input, expiresAt }, token)).toBeDefined();
    for (const later of [{}, { expiresAt: '2100-01-01T00:00:00.001Z' }]) {
      expect(await call(token, 'createAccessToken', { ...input, ...later })).toMatchObject({
        ...{ status: 400, error: 40001 },
        message: `invalid input: expiresAt must be at most ${expiresAt}, when your own token expires`,
      });
    }
  });

  it('revokes a token immediately, and accepts a second call that revokes this token', async () => {
    const { id, token } = await create({ name: 'leaked' });
    expect((await call(token, 'whoAmI')).status).toBe(200);
    const status = caller.name === 'REST' ? 204 : 200;
    expect((await call(server.token, 'revokeAccessToken', { id })).status).toBe(status);
    const { revokedAt } = (await find(id)) ?? {};
    expect(revokedAt).toBeInstanceOf(Date);
    expect((await call(server.token, 'revokeAccessToken', { id })).status).toBe(status);
    expect((await find(id))?.revokedAt).toEqual(revokedAt);
    expect(await call(token, 'whoAmI')).toMatchObject({ status: 401, error: 40101 });
  });

  it('lets a token revoke itself', async () => {
    const { id, token } = await create({ name: 'own', scopes: ['tokens:manage'] });
    expect(await call(token, 'revokeAccessToken', { id })).not.toHaveProperty('error');
    expect((await call(token, 'listAccessTokens')).error).toBe(40101);
  });

  it('does not let a revoked token create a token, even while the revoked token is in the cache', async () => {
    const { id, token } = await create({ name: 'stale', scopes: managerScopes });
    await call(token, 'whoAmI');
    // Another instance revokes the token, so this instance still has the token in its cache.
    const { accessTokens } = server.store;
    const stale = await accessTokens.authenticate(token);
    await accessTokens.revoke({ id });
    const grantor = { name: '', scopes: [], ...stale };
    const grant = accessTokens.grant(grantor, 'stale heir', { scopes: ['plants:read'] });
    await expect(grant).rejects.toMatchObject({ code: 40101 });
    const heir = (await list()).tokens.find(({ name }) => name === 'stale heir');
    expect(heir?.revokedAt).toBeInstanceOf(Date);
  });

  it('lists the newest tokens first, page by page', async () => {
    for (const name of ['first', 'second', 'third']) await create({ name });
    const all = await list();
    expect(all).not.toHaveProperty('next');
    const times = all.tokens.map(({ createdAt }) => createdAt.getTime());
    expect(times).toEqual(times.toSorted((a, b) => b - a));
    const start = await list({ limit: 2 });
    expect(start.next).toBe(start.tokens[1]?.id);
    const rest = await list({ after: start.next });
    const ids = [...start.tokens, ...rest.tokens].map(({ id }) => id);
    expect(ids).toEqual(all.tokens.map(({ id }) => id));
    expect(await list({ after: ids.at(-1) })).toEqual({ tokens: [] });
  });

  it.each([
    ['createAccessToken', { name: 'a\nb' }, 'name must have 1 to 100 characters'],
    ['createAccessToken', { name: 'a\u202eb' }, 'name must have 1 to 100 characters'],
    ['createAccessToken', {}, 'name must be a string'],
    ['createAccessToken', { name: 'x', scopes: [] }, 'scopes must have at least one'],
    ['createAccessToken', { name: 'x', scopes: ['all'] }, 'scopes[0] must be one of plants:create'],
    ['createAccessToken', { name: 'x', expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt must be in'],
    ['createAccessToken', { name: 'x', expiresAt: '2100-02-30T00:00:00Z' }, 'expiresAt must be a'],
    ['createAccessToken', { name: 'x', expiresAt: '0000-01-01T00:00:00Z' }, 'expiresAt must be in'],
    [
      'createAccessToken',
      { name: 'x', expiresAt: '9999-12-31T23:59:59-01:00' },
      'expiresAt must be before',
    ],
    ['createAccessToken', { name: 'x', expiresAt: 4e12 }, 'expiresAt must be a date and time'],
    ['revokeAccessToken', { id: '1' }, 'id must be 16 hexadecimal digits'],
    ['listAccessTokens', { limit: 1001 }, 'limit must be an integer from 1 to 1000'],
    ['listAccessTokens', { after: 'f'.repeat(16) }, 'after is the id of no access token'],
  ] as const)('%s rejects the input %j', async (procedure, input, message) => {
    const outcome = await call(server.token, procedure, input);
    expect(outcome).toMatchObject({ status: 400, error: 40001 });
    expect(outcome.message).toContain(`invalid input: ${message}`);
  });

  it('responds with 40402 when no token has the id', async () => {
    const outcome = await call(server.token, 'revokeAccessToken', { id: 'f'.repeat(16) });
    expect(outcome).toMatchObject({ status: 404, error: 40402 });
  });
});

type Procedure = Parameters<(typeof callers)[number]['call']>[1];
type Input = Parameters<(typeof callers)[number]['call']>[2];
