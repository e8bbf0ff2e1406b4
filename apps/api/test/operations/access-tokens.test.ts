import { createHash } from 'node:crypto';
import type { AccessTokenPage } from '@plant-store/schemas';
import { describe, expect, it } from 'vitest';
import { itNeedsTheScope } from '../fixtures/access.ts';
import { callers, type Input, type Procedure, surfaceCallers } from '../fixtures/callers.ts';
import { shareServer } from '../fixtures/server.ts';

const shared = shareServer();
const [rest] = callers;

const manager = { name: 'manager', scopes: ['tokens:manage', 'plants:read'] };
const createdId = async () =>
  Object((await rest.call(shared, 'createAccessToken', { name: 'x' })).output).id;

describe('listAccessTokens', () =>
  itNeedsTheScope('tokens:manage', shared, 'listAccessTokens', () => ({})));
describe('createAccessToken', () =>
  itNeedsTheScope('tokens:manage', shared, 'createAccessToken', () => ({
    ...{ name: 'x', scopes: ['tokens:manage'] },
  })));
describe('revokeAccessToken', () =>
  itNeedsTheScope('tokens:manage', shared, 'revokeAccessToken', async () => ({
    id: await createdId(),
  })));

describe.each(surfaceCallers)('access tokens over $name', (caller) => {
  const server = shareServer();

  const call = (token: string, procedure: Procedure, input: Input = {}) =>
    caller.call({ url: server.url, token }, procedure, input);
  const list = async (query: Input = {}) =>
    (await call(server.token, 'listAccessTokens', query)).output as AccessTokenPage;
  const find = async (id: string) => (await list()).tokens.find((each) => each.id === id);
  const create = async (input: Input, token = server.token) =>
    (await call(token, 'createAccessToken', input)).output as { id: string; token: string };
  const revoke = (id: string, token = server.token) => call(token, 'revokeAccessToken', { id });

  it('creates a token that works, and lists it without the token or its hash', async () => {
    const expiresAt = '2100-01-02T04:04:05.678+01:00';
    const input = { name: 'gärtner 🌻', scopes: ['plants:read', 'plants:read'], expiresAt };
    const { id, token } = await create(input);
    const identity = {
      ...{ name: 'gärtner 🌻', scopes: ['plants:read'] },
      expiresAt: new Date(expiresAt),
    };
    expect((await call(token, 'whoAmI')).output).toMatchObject(identity);
    const listed = await find(id);
    expect(listed).toMatchObject({ ...identity, createdAt: expect.any(Date) });
    expect(listed).not.toHaveProperty('revokedAt');
    const text = JSON.stringify(await list());
    expect(text).not.toContain(token);
    expect(text).not.toContain(createHash('sha256').update(token).digest('hex'));
  });

  it('gives a new token the scopes to create and read, and no expiry', async () => {
    const { token } = await create({ name: 'usual' });
    const { output } = await call(token, 'whoAmI');
    expect(output).toMatchObject({ name: 'usual', scopes: ['plants:create', 'plants:read'] });
    expect(output).not.toHaveProperty('expiresAt');
  });

  it('rejects a new token with a scope that the token of the caller does not have', async () => {
    const { token } = await create(manager);
    expect(await create({ ...manager, name: 'same' }, token)).toBeDefined();
    for (const scopes of [{ scopes: ['plants:read', 'plants:delete'] }, {}]) {
      const more = await call(token, 'createAccessToken', { name: 'more', ...scopes });
      expect(more).toMatchObject({ status: 403, error: 40300 });
    }
    expect((await list()).tokens.map(({ name }) => name)).not.toContain('more');
  });

  it('rejects a new token that would expire later than the token of the caller', async () => {
    const expiresAt = '2100-01-01T00:00:00.000Z';
    const { token } = await create({ ...manager, expiresAt });
    const input = { name: 'heir', scopes: ['plants:read'] };
    expect(await create({ ...input, expiresAt }, token)).toBeDefined();
    for (const later of [{}, { expiresAt: '2100-01-01T00:00:00.001Z' }]) {
      const outcome = await call(token, 'createAccessToken', { ...input, ...later });
      expect(outcome).toMatchObject({ status: 400, error: 40001 });
      expect(outcome.message).toContain('expiresAt');
    }
  });

  it('rejects an expired token', async () => {
    const expiresAt = new Date(Date.now() + 2_000).toISOString();
    const { token } = await create({ name: 'short', expiresAt });
    await expect.poll(async () => (await call(token, 'whoAmI')).error).toBe(40101);
  });

  it('revokes a token immediately, and accepts a second call that revokes it', async () => {
    const { id, token } = await create({ name: 'leaked' });
    expect((await call(token, 'whoAmI')).status).toBe(200);
    const status = caller.name === 'REST' ? 204 : 200;
    expect((await revoke(id)).status).toBe(status);
    const { revokedAt } = (await find(id)) ?? {};
    expect(revokedAt).toBeInstanceOf(Date);
    expect((await revoke(id)).status).toBe(status);
    expect((await find(id))?.revokedAt).toEqual(revokedAt);
    expect(await call(token, 'whoAmI')).toMatchObject({ status: 401, error: 40101 });
  });

  it('lets a token revoke itself', async () => {
    const { id, token } = await create({ name: 'own', scopes: ['tokens:manage'] });
    expect(await revoke(id, token)).not.toHaveProperty('error');
    expect((await call(token, 'listAccessTokens')).error).toBe(40101);
  });

  it('lists the newest tokens first, page by page', async () => {
    for (const name of ['first', 'second', 'third']) await create({ name });
    const all = await list();
    expect(all).not.toHaveProperty('next');
    const times = all.tokens.map(({ createdAt }) => createdAt.getTime());
    expect(times).toEqual(times.toSorted((a, b) => b - a));
    const start = await list({ limit: 2 });
    const rest = await list({ after: start.next });
    const ids = [...start.tokens, ...rest.tokens].map(({ id }) => id);
    expect(ids).toEqual(all.tokens.map(({ id }) => id));
    expect(await list({ after: ids.at(-1) })).toEqual({ tokens: [] });
  });

  it.each([
    ['createAccessToken', { name: 'a\nb' }, 'name'],
    ['createAccessToken', { name: 'a\u202eb' }, 'name'],
    ['createAccessToken', { name: 'x'.repeat(101) }, 'name'],
    ['createAccessToken', {}, 'name'],
    ['createAccessToken', { name: 'x', scopes: [] }, 'scopes'],
    ['createAccessToken', { name: 'x', scopes: ['all'] }, 'scopes[0]'],
    ...['2020-01-01T00:00:00Z', '2100-02-30T00:00:00Z', '9999-12-31T23:59:59-01:00', 4e12].map(
      (expiresAt) => ['createAccessToken', { name: 'x', expiresAt }, 'expiresAt'] as const,
    ),
    ['revokeAccessToken', { id: '1' }, 'id'],
    ['listAccessTokens', { limit: 1001 }, 'limit'],
    ['listAccessTokens', { after: 'f'.repeat(16) }, 'after'],
  ] as const)('%s rejects the input %j, and names %s', async (procedure, input, name) => {
    const outcome = await call(server.token, procedure, input);
    expect(outcome).toMatchObject({ status: 400, error: 40001 });
    expect(outcome.message).toContain(name);
  });

  it('responds with 40402 when no token has the id', async () => {
    expect(await revoke('f'.repeat(16))).toMatchObject({ status: 404, error: 40402 });
  });
});
