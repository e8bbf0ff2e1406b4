import { openPlantStore } from '@plant-store/core';
import { createDatabase } from '@plant-store/test-setup';
import { expect, inject, it } from 'vitest';
import { run } from '../fixtures/run-program.ts';

it('creates an access token and shows it once, lists it without its value, and revokes it', async () => {
  const env = { DATABASE_URL: await createDatabase(inject('postgresUrl')) };
  const created = await run(['token', 'create', 'partner', '--expires', '90d'], { env });
  const token = created.stdout.trimEnd();
  expect(token).toMatch(/^plant_[\w-]{43}$/);
  expect(created.stderr).toBe('Keep this access token: the store cannot show it again.\n');

  const principal = async () => {
    const store = await openPlantStore({ databaseUrl: env.DATABASE_URL });
    const found = await store.accessTokens.authenticate(token);
    await store.close();
    return found;
  };
  expect(await principal()).toEqual({ name: 'partner' });

  const listed = JSON.parse((await run(['token', 'list'], { env })).stdout);
  expect(listed).toMatchObject({ name: 'partner', revokedAt: null });
  const days = (Date.parse(listed.expiresAt) - Date.parse(listed.createdAt)) / 86_400_000;
  expect(days).toBeCloseTo(90, 2);
  expect(JSON.stringify(listed)).not.toContain(token);

  expect((await run(['token', 'revoke', 'partner'], { env })).code).toBe(0);
  expect(await principal()).toBeUndefined();
});
