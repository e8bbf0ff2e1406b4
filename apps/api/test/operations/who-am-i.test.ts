import { scopes } from '@plant-store/schemas';
import { runSql } from '@plant-store/test-setup';
import { describe, expect, it } from 'vitest';
import { surfaceCallers } from '../fixtures/callers.ts';
import { shareServer } from '../fixtures/server.ts';

const server = shareServer();

describe.each(surfaceCallers)('whoAmI over $name', ({ call }) => {
  it('describes PLANT_STORE_TOKEN, which has all scopes', async () => {
    const { status, output } = await call(server, 'whoAmI', {});
    expect(status).toBe(200);
    expect(output).toMatchObject({ name: expect.any(String), scopes });
    expect(output).not.toHaveProperty('expiresAt');
  });

  it('needs no scope of the token', async () => {
    const input = { name: 'reader', scopes: ['plants:read'] };
    const { output: created } = await call(server, 'createAccessToken', input);
    const { token, id } = Object(created);
    const { output } = await call({ ...server, token }, 'whoAmI', {});
    expect(output).toMatchObject({ name: 'reader', scopes: ['plants:read'], tokenId: id });
  });

  it('returns the expiry of a token that expires at the end of the year 9999', async () => {
    const input = { name: 'late', scopes: ['plants:read'], expiresAt: '9999-12-31t23:59:59.999z' };
    const { output: created } = await call(server, 'createAccessToken', input);
    const { output } = await call({ ...server, token: Object(created).token }, 'whoAmI', {});
    const { expiresAt } = Object(output);
    expect(new Date(expiresAt).toISOString()).toBe('9999-12-31T23:59:59.999Z');
  });

  it('returns no expiry when an operator has set the expiry of a token to infinity', async () => {
    const { output: created } = await call(server, 'createAccessToken', { name: 'infinite' });
    const { databaseUrl } = server;
    await runSql(databaseUrl, "update access_tokens set expires_at = 'infinity'");
    const { output } = await call({ ...server, token: Object(created).token }, 'whoAmI', {});
    expect(output).not.toHaveProperty('expiresAt');
  });

  it('rejects a request without a valid token', async () => {
    expect((await call({ ...server, token: '' }, 'whoAmI', {})).error).toBe(40100);
    expect((await call({ ...server, token: 'unknown' }, 'whoAmI', {})).error).toBe(40101);
  });

  it('rejects a parameter', async () => {
    expect((await call(server, 'whoAmI', { size: 0 })).error).toBe(40001);
  });
});
