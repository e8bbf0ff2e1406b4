import { createDatabase } from '@plant-store/test-setup';
import { afterEach, beforeEach, expect, inject, it } from 'vitest';
import { cursorsOf } from '../../src/changes/kept-pages.ts';
import { type OpenPlantReader, openPlantReader } from '../../src/open-plant-reader.ts';
import { openPlantStore, type PlantStore } from '../../src/plant-store.ts';

let store: PlantStore;
let reader: OpenPlantReader;

beforeEach(async () => {
  const databaseUrl = await createDatabase(inject('postgresUrl'));
  store = await openPlantStore({ databaseUrl });
  reader = await openPlantReader({ databaseUrl });
});

afterEach(() => Promise.all([store.close(), reader.close()]));

/** Reads the first page after a cursor. Returns the id and the cursor of each change in the page. */
async function pageAfter(after: string) {
  const { value } = await reader.follow({ after }).next();
  const cursors = cursorsOf(value);
  return value.changes.map(({ plant }, i) => ({ id: plant.id, cursor: String(cursors[i]) }));
}

it('lets a follower continue after each change, even in the middle of a transaction', async () => {
  const { next } = await reader.changes({});
  // When a caller waits for changes, the feed stores the page in memory. The test then reads the first
  // changes from memory.
  const waiting = pageAfter(next);
  await store.load([1n, 2n, 3n, 4n].map((id) => ({ id, name: `plant ${id}` })));
  const page = await waiting;
  expect(page.map(({ id }) => id)).toEqual([1n, 2n, 3n, 4n]);
  await store.create({ id: 5n, name: 'plant 5' });
  for (const { id, cursor } of page) {
    const [following] = await pageAfter(cursor);
    expect(following?.id).toBe(id + 1n);
  }
});
