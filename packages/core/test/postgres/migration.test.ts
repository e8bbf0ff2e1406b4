import { createDatabase } from '@plant-store/test-setup';
import { beforeEach, describe, expect, inject, it } from 'vitest';
import { openPlantStore } from '../../src/index.ts';
import {
  connectForTest,
  holdOpen,
  openAnother,
  openForTest,
  urlOf,
} from '../fixtures/open-store.ts';
import { endOf, freeId } from '../fixtures/plants.ts';
import { allTables, createRole } from '../fixtures/roles.ts';

const plant = () => ({ id: freeId(), name: 'Hoya' });

describe('an empty database', () => {
  let url: string;

  beforeEach(async () => {
    url = await createDatabase(inject('postgresUrl'));
  });

  it('gets the tables once when several instances start at the same moment', async () => {
    const stores = await Promise.all([1, 2, 3, 4, 5].map(() => openAnother(url)));
    for (const store of stores) {
      await expect.poll(() => store.create(plant()).catch(() => {})).toEqual({ name: 'Hoya' });
    }
    const [first] = stores;
    if (!first) throw new Error('there are five stores');
    const after = await endOf(first);
    for (const store of stores) expect(await store.changes({ after })).toHaveProperty('next');
    expect(await first.count()).toMatchObject({ count: 5 });
  });

  it('gets the documented columns of plants, and no triggers', async () => {
    await openAnother(url);
    const sql = connectForTest(url);
    const columns = await sql`
      select column_name || ' ' || data_type || ' ' || is_nullable as column
      from information_schema.columns where table_schema = 'public' and table_name = 'plants'`;
    expect(columns.map(({ column }) => column)).toEqual(
      expect.arrayContaining([
        'id bigint NO',
        'name text NO',
        'tag text YES',
        'created_at timestamp with time zone NO',
      ]),
    );
    const triggers = await sql`
      select from information_schema.triggers where event_object_schema = 'public'`;
    expect(triggers).toEqual([]); // Citus can distribute the tables only without triggers.
  });

  it('cannot be opened by a user who may not create tables, and the error is one line', async () => {
    const sql = connectForTest(url);
    await sql`revoke create on schema public from public`;
    const { url: asUser } = await createRole(sql, url);
    const opening = openPlantStore({ databaseUrl: asUser }, { requireConnection: true });
    const error = await opening.catch((thrown: Error) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect(String(error)).toMatch(/^[^\n]*$/);
    expect(String(error)).not.toMatch(/create table \w|insert into/i);
    expect(await sql`select from pg_tables where schemaname = 'public'`).toEqual([]);
  });
});

describe('a database with the tables', () => {
  it('can be opened by a user who may only read and write', async () => {
    const { sql, options } = await openForTest();
    const { url } = await createRole(sql, urlOf(options), { grants: [allTables] });
    const store = await openAnother(url, { requireConnection: true });
    const after = await endOf(store);
    const { id, name } = plant();
    expect(await store.create({ id, name })).toEqual({ name });
    expect(await store.delete(id)).toBe(true);
    const { changes } = await store.changes({ after, wait: 20 });
    expect(changes).toMatchObject([{ type: 'deleted', plant: { id } }]);
    const token = await store.accessTokens.create('Ann');
    expect(await store.accessTokens.authenticate(token)).toMatchObject({ name: 'Ann' });
  });

  it('gives an error, never a wrong response, to a user without a privilege', async () => {
    const { store: owner, sql, options } = await openForTest();
    const { role, url } = await createRole(sql, urlOf(options), { grants: [allTables] });
    const store = await openAnother(url, { requireConnection: true });
    const { id, name } = plant();
    await store.create({ id, name });
    await sql.unsafe(`revoke insert, delete on plants from ${role}`);
    const calls = [() => store.create(plant()), () => store.delete(id)];
    for (const call of calls) {
      const error = await call().catch((thrown) => thrown);
      expect(error).toMatchObject({ name: 'PlantStoreError', databaseCode: '42501' });
      expect([50001, 50300]).toContain(error.code);
      expect(error.message).not.toMatch(/insert|delete from|plants_pkey/i);
    }
    expect(await store.get(id)).toMatchObject({ id, name });
    await sql.unsafe(`revoke select on plants from ${role}`);
    await expect(store.get(id)).rejects.toMatchObject({ databaseCode: '42501' });
    await expect(store.list({ limit: 1 })).rejects.toMatchObject({ databaseCode: '42501' });
    expect(await owner.get(id)).toMatchObject({ id, name });
  });

  it('can be opened while another session holds a read lock', async () => {
    const { sql, options } = await openForTest();
    const release = await holdOpen(sql, 'select from plants');
    const store = await openAnother(options, { requireConnection: true });
    expect(await store.create(plant())).toEqual({ name: 'Hoya' });
    await release();
  });

  it('gives an error while a table is missing, and loses no plant', async () => {
    const { store, sql } = await openForTest();
    const { id, name } = plant();
    await store.create({ id, name });
    await sql`alter table plants rename to moved`;
    const error = { kind: 'databaseUnavailable', code: 50300 };
    await expect(store.create(plant())).rejects.toMatchObject(error);
    await expect(store.get(id)).rejects.toMatchObject(error);
    await sql`drop table if exists plants`; // The next statement fails if this table exists.
    await sql`alter table moved rename to plants`;
    await expect.poll(() => store.get(id).catch(() => {})).toMatchObject({ id, name });
  });
});
