import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { type PlantsDatabase, startPlantsDatabase } from './plants-database.ts';
import { type PreviousVersion, startPreviousVersion } from './previous-version.ts';
import { startStoreUnderLoad } from './store-under-load.ts';
import { expectStored, type Row } from './stored-plants.ts';

let database: PlantsDatabase;

beforeEach(async () => {
  database = await startPlantsDatabase();
  onTestFinished(database.stop);
});

/** Expects that the previous version's plants are stored, after it has stopped without an error. */
async function expectAllStored(previous: PreviousVersion): Promise<void> {
  await previous.stop();
  const rows = await database.admin<Row[]>`
    select id::int, name, tag from plants where id >= 1000000`;
  expectStored(
    previous.acknowledged.map(({ tag, ...plant }) => (tag === null ? plant : { ...plant, tag })),
    rows,
  );
  expect(rows.length).toBe(previous.acknowledged.length);
}

it('an upgrade: this version starts beside the previous one, and replaces it', async ({ task }) => {
  const previous = await startPreviousVersion(database.url, 1_000_000);
  await previous.acknowledges(100);
  const store = await startStoreUnderLoad(database.url);
  onTestFinished(store.kill);
  await Promise.all([previous.acknowledges(300), store.load.acknowledged(300)]);
  await expectAllStored(previous);
  await store.load.acknowledged(100);
  await store.finish(database.url, task);
});

it('a downgrade: the previous version starts beside this one, and replaces it', async ({
  task,
}) => {
  const store = await startStoreUnderLoad(database.url);
  onTestFinished(store.kill);
  const previous = await startPreviousVersion(database.url, 1_000_000);
  await Promise.all([previous.acknowledges(300), store.load.acknowledged(300)]);
  await store.finish(database.url, task);
  await previous.acknowledges(100);
  await expectAllStored(previous);
});

it('an upgrade again: this version starts beside the previous one after a downgrade', async ({
  task,
}) => {
  await (await startStoreUnderLoad(database.url)).finish(database.url, task);
  const previous = await startPreviousVersion(database.url, 1_000_000);
  await previous.acknowledges(100);
  const { admin } = database;
  await admin`delete from plants where id < 1000000`; // The load uses the same ids again.
  const store = await startStoreUnderLoad(database.url);
  onTestFinished(store.kill);
  await Promise.all([previous.acknowledges(300), store.load.acknowledged(300)]);
  await expectAllStored(previous);
  await store.finish(database.url, task);
  expect(await admin`select scope, count(*)::int from access_tokens group by scope`).toEqual([
    { scope: 'plants:create', count: 1 },
  ]);
});
