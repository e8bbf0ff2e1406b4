import { Buffer } from 'node:buffer';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { formatCursor, parseCursor } from '../../src/changes/cursor.ts';
import type { DatabaseOptions } from '../../src/index.ts';
import { openPlantStore, type PlantStore } from '../../src/plant-store.ts';
import { idsOf, summaryOf } from '../fixtures/changes.ts';
import { createStore, embedded, removePlants, server } from '../fixtures/databases.ts';

const minId = -(2n ** 63n);
const maxId = 2n ** 63n - 1n;

describe.each([server, embedded])('on $name', ({ provide }) => {
  let options: DatabaseOptions;
  let store: PlantStore;
  let remove: () => Promise<void>;

  beforeAll(async () => {
    ({ options, remove } = await provide());
    store = await openPlantStore(options, { requireConnection: true });
  });
  beforeEach(() => removePlants(store));
  afterAll(async () => {
    await store.close();
    await remove();
  });

  const end = async () => (await store.changes({})).next;

  it('lists the changes after a cursor in the order in which they happened', async () => {
    await store.create({ id: 1n, name: 'before' });
    const after = await end();
    await store.create({ id: 3n, name: 'Monstera 🌱', tag: 'Araceae' });
    await store.create({ id: 2n, name: 'Pothos' });
    await store.delete(1n);
    const { changes, next } = await store.changes({ after });
    expect(changes).toEqual([
      {
        type: 'created',
        plant: { id: 3n, name: 'Monstera 🌱', tag: 'Araceae', createdAt: expect.any(Date) },
      },
      { type: 'created', plant: { id: 2n, name: 'Pothos', createdAt: expect.any(Date) } },
      { type: 'deleted', plant: { id: 1n, name: 'before', createdAt: expect.any(Date) } },
    ]);
    expect(await store.changes({ after: next })).toEqual({ changes: [], next: expect.any(String) });
  });

  it('yields pages of changes to a follower', async () => {
    const pages = store.follow();
    expect((await pages.next()).value.changes).toEqual([]);
    await store.createMany([1n, 2n].map((id) => ({ id, name: 'Monstera' })));
    await store.delete(1n);
    const seen: string[] = [];
    while (!seen.includes('deleted 1')) seen.push(...summaryOf((await pages.next()).value));
    expect(seen).toContain('created 2');
  });

  it('begins at the end of the feed, and returns the same cursor while nothing changes', async () => {
    const empty = await end();
    expect(await end()).toBe(empty);
    expect(await store.changes({ after: empty })).toEqual({ changes: [], next: empty });
    await store.create({ id: 1n, name: 'Hoya' });
    const { next } = await store.changes({ after: empty });
    expect(await end()).toBe(next);
    expect(await store.changes({ after: next })).toEqual({ changes: [], next });
  });

  it('contains changes of the smallest and the largest possible id', async () => {
    const after = await end();
    await store.createMany([maxId, 0n, minId].map((id) => ({ id, name: 'x' })));
    expect(idsOf(await store.changes({ after }))).toEqual([minId, 0n, maxId]);
    const first = await store.changes({ after, limit: 2 });
    const second = await store.changes({ after: first.next, limit: 1 });
    expect(idsOf(second)).toEqual([maxId]);
    expect(second.next).toBe(await end());
    await store.delete(maxId);
    expect(summaryOf(await store.changes({ after: second.next }))).toEqual([`deleted ${maxId}`]);
  });

  it('limits the size of a page, but returns at least one change', async () => {
    const after = await end();
    const large = '🌱'.repeat(2 ** 18);
    await store.createMany(
      [{ id: 1n, name: 'small' }].concat([2n, 3n].map((id) => ({ id, name: large }))),
    );
    const pages: bigint[][] = [];
    for (let cursor = after; ; ) {
      const page = await store.changes({ after: cursor });
      if (page.changes.length === 0) break;
      pages.push(idsOf(page));
      cursor = page.next;
    }
    expect(pages).toEqual([[1n], [2n], [3n]]);
  });

  it('returns only the delete when a plant was created and deleted after the cursor', async () => {
    const after = await end();
    await store.create({ id: 1n, name: 'Hoya' });
    await store.delete(1n);
    expect(summaryOf(await store.changes({ after }))).toEqual(['deleted 1']);
  });

  it('returns first the delete and then the create when a plant was created again', async () => {
    await store.create({ id: 1n, name: 'Hoya' });
    const after = await end();
    await store.delete(1n);
    await store.create({ id: 1n, name: 'Ficus' });
    const { changes } = await store.changes({ after });
    expect(changes.map(({ type, plant }) => `${type} ${plant.name}`)).toEqual([
      'deleted Hoya',
      'created Ficus',
    ]);
  });

  it('contains the deletes that `deleteMany` makes', async () => {
    await store.load([1n, 2n, 3n].map((id) => ({ id, name: 'x' })));
    const after = await end();
    expect(await store.deleteMany([3n, 1n, 4n])).toBe(2);
    expect(summaryOf(await store.changes({ after }))).toEqual(['deleted 1', 'deleted 3']);
  });

  it('rejects a text that is not a cursor', async () => {
    const cursor = parseCursor(await end());
    const encode = (text: string) => Buffer.from(text).toString('base64url');
    const bad = [
      'x',
      '%00',
      formatCursor(cursor).slice(1),
      `${formatCursor(cursor)}=`,
      encode(`${cursor.epoch} ${2n ** 64n}`),
      encode(`${cursor.epoch} 1 ${maxId + 1n}`),
      encode(`${cursor.epoch} 1 -0`),
      encode(`${cursor.epoch} 01`),
      encode(`${cursor.epoch.toUpperCase()}A 1`),
    ];
    for (const after of bad) {
      await expect(store.changes({ after }), after).rejects.toMatchObject({ code: 40001 });
    }
  });

  it('throws error 41000 for a cursor after the end of the feed, and for a cursor of another database', async () => {
    const cursor = parseCursor(await end());
    const replaced = { code: 41000, message: expect.stringContaining('was replaced') };
    for (const other of [
      { ...cursor, transaction: cursor.transaction + 1_000_000n },
      { ...cursor, transaction: 2n ** 64n - 1n },
      { ...cursor, epoch: '0'.repeat(16) },
    ]) {
      expect(formatCursor(other).length).toBeLessThanOrEqual(1_000);
      await expect(store.changes({ after: formatCursor(other) })).rejects.toMatchObject(replaced);
    }
  });

  it('continues after the store was closed and opened again', async () => {
    const after = await end();
    await store.create({ id: 1n, name: 'Hoya' });
    await store.close();
    store = await openPlantStore(options, { requireConnection: true });
    expect(idsOf(await store.changes({ after }))).toEqual([1n]);
  });
});

it('orders changes by the transaction number, not by the text of the number', async () => {
  const { store, sql } = await createStore();
  const cursor = parseCursor((await store.changes({})).next);
  await sql`insert into plants (id, name, changed_in) values (1, 'b', '100'), (2, 'a', '99')`;
  await sql`insert into plant_deletions (id, name, created_at, changed_in) values (3, 'c', now(), '9')`;
  const after = formatCursor({ ...cursor, transaction: 1n });
  expect(summaryOf(await store.changes({ after }))).toEqual([
    'deleted 3',
    'created 2',
    'created 1',
  ]);
});
