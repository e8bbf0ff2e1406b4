import { createDatabase, startPostgres, type TestPostgres } from '@plant-store/test-setup';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { inspectDatabase } from '../../src/inspection/inspect-database.ts';
import { openPlantReader } from '../../src/open-plant-reader.ts';
import { openPlantStore } from '../../src/plant-store.ts';
import { createUser } from '../fixtures/databases.ts';

const plant = { id: 1n, name: 'Monstera deliciosa', tag: 'Araceae' };

/** Creates a database, and a user without privileges on the database. */
async function databaseWithUser({ isMigrated = true } = {}) {
  const databaseUrl = await createDatabase(inject('postgresUrl'));
  if (isMigrated) await (await openPlantStore({ databaseUrl })).close();
  const sql = postgres(databaseUrl);
  const { user, url } = await createUser(sql, databaseUrl);
  return { sql, user, options: { databaseUrl: url } };
}

it('reads plants as a user that may only read, even in a read-only session', async () => {
  const { sql, user, options } = await databaseWithUser();
  await sql`insert into plants (id, name, tag) values (1, ${plant.name}, ${plant.tag})`;
  await sql.unsafe(`grant select on plants to ${user}`);
  await sql.end();
  for (const parameter of ['', '?default_transaction_read_only=on']) {
    const reader = await openPlantReader({ databaseUrl: `${options.databaseUrl}${parameter}` });
    expect(await reader.get(1n)).toMatchObject(plant);
    expect((await reader.list({ limit: 10 })).plants).toHaveLength(1);
    expect(await reader.count({ tag: 'Araceae' })).toBe(1);
    expect(await reader.count({ tag: 'Moraceae' })).toBe(0);
    await reader.close();
  }
});

it('opens a migrated store as a user that may not create tables', async () => {
  const { sql, user, options } = await databaseWithUser();
  await sql.unsafe(`grant select, insert, delete on plants to ${user}`);
  await sql.unsafe(`grant select, insert, update on access_tokens to ${user}`);
  const store = await openPlantStore(options);
  expect(await store.create(plant)).toMatchObject({ name: plant.name });
  await expect(store.delete(1n)).rejects.toMatchObject({ databaseCode: '42501' });
  await sql.unsafe(`grant insert on plant_deletions to ${user}`);
  await sql.unsafe(`grant select on plant_feed to ${user}`);
  expect(await store.delete(1n)).toBe(true);
  const token = await store.accessTokens.create('Ann');
  expect(await store.accessTokens.authenticate(token)).toMatchObject({ name: 'Ann' });
  await store.close();
  await sql.end();
});

it('reports the privileges of a user, and reports a schema that the user may not use', async () => {
  const { sql, user, options } = await databaseWithUser();
  await sql.unsafe(`grant select (id, name), update (name) on plants to ${user}`);
  expect(await inspectDatabase(options)).toMatchObject({
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
  const state = await inspectDatabase(options);
  expect(state?.privileges[1]).toMatchObject({ table: 'plants', closedSchema: 'public' });
  await sql.end();
});

describe('a read replica', () => {
  let primary: TestPostgres;
  let standby: TestPostgres;

  beforeAll(async () => {
    primary = await startPostgres({ fsync: 'off' });
    const store = await openPlantStore({ databaseUrl: primary.url });
    await store.create(plant);
    await store.close();
    standby = await primary.startStandby();
  });

  afterAll(async () => {
    await standby.stop();
    await primary.stop();
  });

  it('reads plants from a read replica', async () => {
    const reader = await openPlantReader({ databaseUrl: standby.url });
    await vi.waitFor(async () => expect(await reader.get(1n)).toMatchObject(plant));
    expect(await reader.count()).toBe(1);
    await reader.close();
    const store = await openPlantStore({ databaseUrl: standby.url }, { readOnly: true });
    expect(await store.accessTokens.list()).toEqual({ tokens: [] });
    await expect(store.delete(1n)).rejects.toMatchObject({ databaseCode: '25006' });
    await store.close();
  });

  it('says that a read replica accepts no writes', async () => {
    const opening = openPlantStore({ databaseUrl: standby.url }, { requireConnection: true });
    await expect(opening).rejects.toMatchObject({
      kind: 'databaseUnavailable',
      reason: expect.stringMatching(/ is read-only$/),
    });
  });

  it('inspects a read replica, and inspects the primary when the URL names the primary and a replica', async () => {
    expect(await inspectDatabase({ databaseUrl: standby.url })).toMatchObject({ isReplica: true });
    const { host: other } = new URL(standby.url);
    const both = primary.url.replace('@', `@${other},127.0.0.1:1,`);
    expect(await inspectDatabase({ databaseUrl: both })).toMatchObject({
      isReplica: false,
      unreachableHosts: [{ name: '127.0.0.1:1' }],
    });
  });
});
