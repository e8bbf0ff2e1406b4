import { beforeEach, expect, it } from 'vitest';
import type { PlantsDatabase } from './plants-database.ts';
import { type PreviousVersion, startPreviousVersion } from './previous-version.ts';
import { startDatabase, startStoreUnderLoad } from './store-under-load.ts';
import { expectStored, type Row } from './stored-plants.ts';

let database: PlantsDatabase;

beforeEach(async () => {
  database = await startDatabase();
});

/** Stops the previous version, and expects that all its plants are stored. */
async function expectAllStored(previous: PreviousVersion): Promise<void> {
  await previous.stop();
  const rows = await database.admin<Row[]>`
    select id::int, name, tag from plants where id >= 1000000`;
  expectStored(previous.acknowledged, rows);
  expect(rows.length).toBe(previous.acknowledged.length);
}

it('an upgrade: this version starts beside the previous one, and replaces it', async (context) => {
  const previous = await startPreviousVersion(database.url, 1_000_000);
  await previous.acknowledges(100);
  const store = await startStoreUnderLoad(database.url, context);
  await Promise.all([previous.acknowledges(300), store.load.acknowledged(300)]);
  await expectAllStored(previous);
  await store.load.acknowledged(100);
  await store.finish(database.url);
});

it('a downgrade: the previous version starts beside this one, and replaces it', async (context) => {
  const store = await startStoreUnderLoad(database.url, context);
  const previous = await startPreviousVersion(database.url, 1_000_000);
  await Promise.all([previous.acknowledges(300), store.load.acknowledged(300)]);
  await store.finish(database.url);
  await previous.acknowledges(100);
  await expectAllStored(previous);
});

it('an upgrade again: this version starts beside the previous one after a downgrade', async (context) => {
  await (await startStoreUnderLoad(database.url, context)).finish(database.url);
  const previous = await startPreviousVersion(database.url, 1_000_000);
  await previous.acknowledges(100);
  const { admin } = database;
  await admin`delete from plants where id < 1000000`; // The load uses the same ids again.
  const store = await startStoreUnderLoad(database.url, context);
  await Promise.all([previous.acknowledges(300), store.load.acknowledged(300)]);
  await expectAllStored(previous);
  await store.finish(database.url);
  expect(await admin`select scope, count(*)::int from access_tokens group by scope`).toEqual([
    { scope: 'plants:create', count: 1 },
  ]);
});
