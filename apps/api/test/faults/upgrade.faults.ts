import { expect, it } from 'vitest';
import type { PlantsDatabase } from './plants-database.ts';
import { type PreviousVersion, startPreviousVersion } from './previous-version.ts';
import { startDatabase, startStoreUnderLoad } from './store-under-load.ts';
import { expectStored, type Row } from './stored-plants.ts';

/** Stops the previous version, and expects that all its plants are stored. */
async function expectAllStored({ admin }: PlantsDatabase, previous: PreviousVersion) {
  await previous.stop();
  expectStored(previous.acknowledged, await admin<Row[]>`select id::int, name, tag from plants`);
}

it('loses no plant in an upgrade, a downgrade and another upgrade while both versions run', async (context) => {
  const database = await startDatabase();
  const { url, admin } = database;
  const first = await startPreviousVersion(url, 1_000_000);
  await first.acknowledges(100);
  const store = await startStoreUnderLoad(url, context);
  await Promise.all([first.acknowledges(300), store.load.acknowledged(300)]);
  await expectAllStored(database, first);
  await store.load.acknowledged(100);

  const second = await startPreviousVersion(url, 2_000_000);
  await Promise.all([second.acknowledges(300), store.load.acknowledged(300)]);
  await store.finish(url);
  await second.acknowledges(100);

  await admin`delete from plants where id < 1000000`;
  const again = await startStoreUnderLoad(url, context);
  await Promise.all([second.acknowledges(300), again.load.acknowledged(300)]);
  await expectAllStored(database, second);
  await again.finish(url);
  expect(await admin`select scope, count(*)::int from access_tokens group by scope`).toEqual([
    { scope: 'plants:create', count: 2 },
  ]);
});
