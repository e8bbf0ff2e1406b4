import { createPlantStoreClient } from '@plant-store/client';
import { expect, test } from 'vitest';
import { useStore } from './fixtures/store.ts';

const store = useStore();

const scopesOf = (token: string) =>
  createPlantStoreClient({ url: store.url, token })
    .whoAmI.query()
    .then(({ scopes }) => scopes);

test('token create shows a token that works', async () => {
  const { code, stdout } = await store.run(['token', 'create', 'partner']);
  expect(code).toBe(0);
  expect(await scopesOf(stdout.trim())).toEqual(['plants:create', 'plants:read']);
});

test('token create sets the scopes and the expiry', async () => {
  const args = ['token', 'create', 'manager', '--days', '90', '--json'];
  const { stdout } = await store.run([
    ...args,
    '--scopes',
    'plants:read',
    'plants:delete',
    'tokens:manage',
  ]);
  const { id, token } = JSON.parse(stdout);
  expect(await scopesOf(token)).toEqual(['plants:read', 'plants:delete', 'tokens:manage']);
  const list = await store.run(['token', 'list']);
  const found = list.stdout.split('\n').find((line) => line.includes(id)) ?? '';
  const { name, createdAt, expiresAt } = JSON.parse(found);
  expect(name).toBe('manager');
  expect(Math.round((Date.parse(expiresAt) - Date.parse(createdAt)) / 86_400_000)).toBe(90);
  expect(list.stdout).not.toContain(token);
});

test('token revoke revokes a token by its id', async () => {
  const { stdout } = await store.run(['token', 'create', 'leaked', '--json']);
  const { id, token } = JSON.parse(stdout);
  expect(await store.run(['token', 'revoke', id])).toMatchObject({
    code: 0,
    stdout: `revoked the access token ${id}\n`,
  });
  await expect(scopesOf(token)).rejects.toThrow();
  const { code, stderr } = await store.run(['token', 'revoke', '0123456789abcdef', '--json']);
  expect({ code, ...JSON.parse(stderr) }).toMatchObject({ code: 1, error: 40402 });
});

test.each([
  ['--scopes', 'plants:write'],
  ['--days', 'soon'],
])('token create rejects %s %s', async (option, value) => {
  const { code, stderr } = await store.run(['token', 'create', 'x', option, value]);
  expect(code).toBe(2);
  expect(stderr).toContain(`'${value}' is invalid`);
});
