import { createHash } from 'node:crypto';
import { type AccessTokenPage, scopes } from '@plant-store/schemas';
import { describe, expect, it } from 'vitest';
import { shareServer } from '../fixtures/server.ts';
import { type Input, type Procedure, surfaces } from '../fixtures/surfaces.ts';

describe.each(surfaces)('access tokens over $name', (surface) => {
  const server = shareServer();

  const call = (token: string, procedure: Procedure, input: Input = {}) =>
    surface.call({ url: server.url, token }, procedure, input);
  const list = async () => (await call(server.token, 'listAccessTokens')).output as AccessTokenPage;
  const find = async (id: string) => (await list()).tokens.find((each) => each.id === id);
  const create = async (input: Input, token = server.token) =>
    (await call(token, 'createAccessToken', input)).output as { id: string; token: string };

  it('PLANT_STORE_TOKEN has all scopes, and a new token can create and read plants by default', async () => {
    const usual = await create({ name: 'usual' });
    for (const [token, principal] of [
      [server.token, { name: expect.any(String), scopes }],
      [usual.token, { name: 'usual', scopes: ['plants:create', 'plants:read'] }],
    ] as const) {
      const { output } = await call(token, 'whoAmI');
      expect(output).toMatchObject(principal);
      expect(output).not.toHaveProperty('expiresAt');
    }
  });

  it('creates a token that the server accepts, and lists neither its text nor its hash', async () => {
    const expiresAt = '9999-12-31t23:59:59.999z';
    const input = { name: 'gärtner 🌻', scopes: ['plants:read', 'plants:read'], expiresAt };
    const { id, token } = await create(input);
    const identity = {
      ...{ name: 'gärtner 🌻', scopes: ['plants:read'] },
      expiresAt: new Date('9999-12-31T23:59:59.999Z'),
    };
    // whoAmI needs no scope.
    expect((await call(token, 'whoAmI')).output).toMatchObject({ ...identity, tokenId: id });
    const listed = await find(id);
    expect(listed).toMatchObject({ ...identity, createdAt: expect.any(Date) });
    expect(listed).not.toHaveProperty('revokedAt');
    const text = JSON.stringify(await list());
    expect(text).not.toContain(token);
    expect(text).not.toContain(createHash('sha256').update(token).digest('hex'));
  });

  it('creates no token with more scopes or a later expiry than the token of the caller has', async () => {
    const expiresAt = '2100-01-02T04:04:05.678+01:00';
    const granted = ['tokens:manage', 'plants:read'];
    const { token } = await create({ name: 'manager', scopes: granted, expiresAt });
    expect(await create({ name: 'same', scopes: granted, expiresAt }, token)).toBeDefined();
    for (const [input, error] of [
      [{ name: 'more', scopes: ['plants:delete'], expiresAt }, 40300],
      [{ name: 'more', expiresAt }, 40300],
      [{ name: 'more', scopes: granted }, 40001],
      [{ name: 'more', scopes: granted, expiresAt: '2100-01-02T03:04:05.679Z' }, 40001],
    ] as const) {
      expect(await call(token, 'createAccessToken', input)).toMatchObject({ error });
    }
    expect((await list()).tokens.map(({ name }) => name)).not.toContain('more');
  });

  it('revokes a token immediately, and accepts a second revocation', async () => {
    const { id, token } = await create({ name: 'leaked', scopes: ['tokens:manage'] });
    const status = surface.name === 'REST' ? 204 : 200;
    // A token may revoke itself.
    expect((await call(token, 'revokeAccessToken', { id })).status).toBe(status);
    const { revokedAt } = (await find(id)) ?? {};
    expect(revokedAt).toBeInstanceOf(Date);
    expect((await call(server.token, 'revokeAccessToken', { id })).status).toBe(status);
    expect((await find(id))?.revokedAt).toEqual(revokedAt);
    expect(await call(token, 'whoAmI')).toMatchObject({ status: 401, error: 40101 });
  });
});
