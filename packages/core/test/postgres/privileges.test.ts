import { startPostgres } from '@plant-store/test-setup';
import { expect, it, onTestFinished } from 'vitest';
import { inspectDatabase } from '../../src/inspection/inspect-database.ts';
import { openPlantStore } from '../../src/plant-store.ts';
import { connectToNew, createUser } from '../fixtures/databases.ts';

it('reports the privileges of a user, and reports a schema that the user may not use', async () => {
  const { databaseUrl, sql } = await connectToNew();
  await (await openPlantStore({ databaseUrl })).close();
  const { user, url } = await createUser(
    sql,
    databaseUrl,
    'select (id, name), update (name) on plants',
  );
  expect(await inspectDatabase({ databaseUrl: url })).toMatchObject({
    isKnown: false,
    tableFaults: [],
    privileges: [
      { table: 'webhooks', user, privileges: [], closedSchema: null },
      { table: 'plants', user, privileges: ['SELECT', 'UPDATE'], closedSchema: null },
      { table: 'plant_feed', user, privileges: [], closedSchema: null },
      { table: 'plant_deletions', user, privileges: [], closedSchema: null },
      { table: 'access_tokens', user, privileges: [], closedSchema: null },
    ],
  });
  await sql`revoke usage on schema public from public`;
  const state = await inspectDatabase({ databaseUrl: url });
  expect(state?.privileges[1]).toMatchObject({ table: 'plants', closedSchema: 'public' });
});

it('opens and inspects a read replica, and prefers the primary when the URL names both', async () => {
  const primary = await startPostgres({ fsync: 'off' });
  onTestFinished(() => primary.stop());
  await (await openPlantStore({ databaseUrl: primary.url })).close();
  const standby = await primary.startStandby();
  onTestFinished(() => standby.stop());
  const opening = openPlantStore({ databaseUrl: standby.url }, { requireConnection: true });
  await expect(opening).rejects.toMatchObject({
    kind: 'databaseUnavailable',
    reason: expect.stringMatching(/ is read-only$/),
  });
  const store = await openPlantStore({ databaseUrl: standby.url }, { readOnly: true });
  expect(await store.accessTokens.list()).toEqual({ tokens: [] });
  await store.close();
  expect(await inspectDatabase({ databaseUrl: standby.url })).toMatchObject({ isReplica: true });
  const { host: other } = new URL(standby.url);
  const both = primary.url.replace('@', `@${other},127.0.0.1:1,`);
  expect(await inspectDatabase({ databaseUrl: both })).toMatchObject({
    isReplica: false,
    unreachableHosts: [{ name: '127.0.0.1:1' }],
  });
});
