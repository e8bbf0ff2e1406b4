import { openPlantStore } from '@plant-store/core';
import { expect, it } from 'vitest';
import { useDatabase } from '../fixtures/database.ts';
import { run } from '../fixtures/run-program.ts';

const database = useDatabase({ isShared: true });
const { env } = database;

async function principalOf(token: string) {
  const store = await openPlantStore({ databaseUrl: env.DATABASE_URL });
  const found = await store.accessTokens.authenticate(token);
  await store.close();
  return found;
}

it('creates, lists and revokes an access token, and shows the token only once', async () => {
  const created = await run(['token', 'create', 'partner', '--expires', '90d'], { env });
  const token = created.stdout.trimEnd();
  expect(token).toMatch(/^plant_[\w-]{43}$/);
  expect(created.stderr).toBe('Keep this access token: the store cannot show it again.\n');
  expect(await principalOf(token)).toMatchObject({
    name: 'partner',
    scopes: ['plants:create', 'plants:read'],
  });

  const listed = JSON.parse((await run(['token', 'list'], { env })).stdout);
  expect(listed).toMatchObject({ name: 'partner' });
  expect(listed).not.toHaveProperty('revokedAt');
  const days = (Date.parse(listed.expiresAt) - Date.parse(listed.createdAt)) / 86_400_000;
  expect(days).toBeCloseTo(90, 2);
  expect(JSON.stringify(listed)).not.toContain(token);

  const args = ['token', 'create', 'partner', '--scopes', 'read,delete'];
  const another = (await run(args, { env })).stdout.trimEnd();
  expect((await run(['token', 'revoke', '--id', listed.id], { env })).code).toBe(0);
  expect(await principalOf(token)).toBeUndefined();
  const principal = { name: 'partner', scopes: ['plants:read', 'plants:delete'] };
  expect(await principalOf(another)).toMatchObject(principal);
  const [newest = ''] = (await run(['token', 'list'], { env })).stdout.split('\n');
  expect(JSON.parse(newest)).toMatchObject(principal);
  expect((await run(['token', 'revoke', 'partner'], { env })).code).toBe(0);
  expect(await principalOf(another)).toBeUndefined();
});

it('lists thousands of access tokens without a warning', async () => {
  await database.sql`
    insert into access_tokens (name, sha256) select 'many', sha256(id::text::bytea) from generate_series(1, 6000) as id`;
  const { stdout, stderr } = await run(['token', 'list'], { env });
  expect(stdout.match(/"many"/g)).toHaveLength(6_000);
  expect(stderr).toBe('');
});
