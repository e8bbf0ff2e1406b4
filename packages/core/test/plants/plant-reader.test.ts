import { formatJson } from '@plant-store/schemas';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { deadlineIn } from '../../src/database/deadline.ts';
import { openDatabase } from '../../src/open-database.ts';
import { PlantStoreError } from '../../src/plant-store-error.ts';
import { createPageReader } from '../../src/plants/pages.ts';
import { createCountUpTo, type PlantQuery } from '../../src/plants/plant-reader.ts';
import { searchBounds } from '../../src/plants/search.ts';
import { closeAtEnd, createStore, embedded, server, shareStore } from '../fixtures/databases.ts';

const [least, greatest] = [-(2n ** 63n), 2n ** 63n - 1n];

describe.each([embedded, server])('reading from a store on $name', ({ provide }) => {
  const store = shareStore(provide);
  const plants = [least, -1n, 0n, 2n ** 53n + 1n, greatest].map((id, i) => ({
    id,
    name: `\ufeff plant ${id} 🌻`,
    ...(i % 2 === 0 && { tag: 'even' }),
  }));

  beforeAll(async () => {
    for (const plant of plants) await store.create(plant);
  });

  it('returns a plant exactly as it was created, with the time of its creation', async () => {
    for (const plant of plants) {
      const stored = await store.get(plant.id);
      expect(stored).toEqual({ ...plant, createdAt: expect.any(Date) });
      expect(Math.abs(Date.now() - Number(stored?.createdAt))).toBeLessThan(60_000);
    }
  });

  it('returns undefined for an id without a plant, and returns the plants of other ids', async () => {
    const ids = [5n, least, 6n, least, greatest];
    const found = await Promise.all(ids.map((id) => store.get(id)));
    expect(found.map((plant) => plant?.id)).toEqual([undefined, least, undefined, least, greatest]);
  });

  it('lists plants in the order of the ids, and says where the next page begins', async () => {
    const first = await store.list({ limit: 2 });
    expect(first.plants.map(({ id }) => id)).toEqual([least, -1n]);
    expect(first.next).toBe(-1n);
    const second = await store.list({ limit: 3, after: -1n });
    expect(second.plants.map(({ id }) => id)).toEqual([0n, 2n ** 53n + 1n, greatest]);
    expect(second).not.toHaveProperty('next');
    expect(await store.list({ limit: 3, after: greatest })).toEqual({ plants: [] });
  });

  it('lists only the plants with the requested tag', async () => {
    const page = await store.list({ tag: 'even', limit: 2 });
    expect(page.plants.map(({ id }) => id)).toEqual([least, 0n]);
    expect(page.next).toBe(0n);
    expect((await store.list({ tag: 'even', limit: 2, after: 0n })).plants).toHaveLength(1);
    expect(await store.list({ tag: 'Even', limit: 2 })).toEqual({ plants: [] });
  });

  it('reads plants by tag, by id and by time, up to a limit', async () => {
    const idsOf = async (query: PlantQuery) =>
      (await Array.fromAsync(store.read(query))).flat().map(({ id }) => id);
    const { createdAt: since } = (await store.get(least)) ?? {};
    expect(await idsOf({ tag: 'even' })).toEqual([least, 0n, greatest]);
    expect(await idsOf({ after: 0n })).toEqual([2n ** 53n + 1n, greatest]);
    expect(await idsOf({ after: least, limit: 2 })).toEqual([-1n, 0n]);
    expect(await idsOf({ since })).toEqual(plants.map(({ id }) => id));
    expect(await idsOf({ since: new Date(Date.now() + 60_000) })).toEqual([]);
  });

  it('returns at most 1 MiB of plants in a page, but at least one plant', async () => {
    const tag = 'é'.repeat(100_000);
    const bytes = [2 ** 19, 2 ** 19, 2 ** 19, 2 ** 19 + 1, 2 ** 21, 2 ** 19, 2 ** 21];
    for (const [i, size] of bytes.entries()) {
      await store.create({ id: 100n + BigInt(i), name: 'x'.repeat(size - 200_000), tag });
    }
    const sizes: number[] = [];
    for (let after: bigint | undefined; ; ) {
      const page = await store.list({ tag, after, limit: 1000 });
      sizes.push(page.plants.length);
      after = page.next;
      if (after === undefined) break;
    }
    expect(sizes).toEqual([2, 1, 1, 1, 1, 1]);
  });

  it('lists a plant with a long name between plants with short names', async () => {
    const names = ['short', 'long'.repeat(50_000), ''];
    for (const [i, name] of names.entries()) {
      await store.create({ id: 300n + BigInt(i), name, tag: 'mixed' });
    }
    for (const limit of [100, 3]) {
      const { plants, ...rest } = await store.list({ tag: 'mixed', limit });
      expect(plants.map(({ name }) => name)).toEqual(names);
      expect(rest).toEqual({});
    }
  });

  it('deletes a plant, and then accepts another plant with the same id', async () => {
    const id = 200n;
    await store.create({ id, name: 'misspelt' });
    expect(await store.delete(id)).toBe(true);
    expect(await store.delete(id)).toBe(false);
    expect(await store.get(id)).toBeUndefined();
    await store.create({ id, name: 'Monstera' });
    expect(await store.get(id)).toMatchObject({ name: 'Monstera' });
  });
});

it('ends a read at its deadline', async () => {
  const { store, sql } = await createStore();
  const other = await sql.reserve();
  await other`begin`;
  await other`lock table plants in access exclusive mode`;
  const deadline = performance.now() + 50;
  const reads = [store.get(0n, { deadline }), store.list({ limit: 1 }, { deadline })];
  const late = { status: 'rejected', reason: { code: 50300 } };
  expect(await Promise.allSettled(reads)).toMatchObject([late, late]);
  other.release();
});

it('counts up to a limit with a statement of the share `lists`, and passes `deadline` and `caller` to the database', async () => {
  const read = vi.fn(async () => ({ rows: [['0']], count: 1 }));
  const options = { deadline: deadlineIn(60_000), caller: { isGone: false } };
  expect(await createCountUpTo({ read })(5, { tag: 'x' }, options)).toBe(0);
  expect(read.mock.calls).toEqual([[expect.any(String), ['x'], { share: 'lists', ...options }]]);
});

describe('the memory of a page', () => {
  it('sends only one statement even when a plant of the page has a long name', async () => {
    const { databaseUrl, store } = await createStore();
    await store.load([1n, 2n].map((id) => ({ id, name: 'x'.repeat(Number(id) * 1_000) })));
    const database = closeAtEnd(await openDatabase({ databaseUrl }));
    const read = vi.fn(database.read);
    const readPage = createPageReader({ read }, searchBounds.postgres);
    const page = await readPage({ limit: 1_000 }, { share: 'lists' });
    expect(page.plants.map(({ name }) => name.length)).toEqual([1_000, 2_000]);
    expect(read).toHaveBeenCalledOnce();
  });

  it('reserves memory before a read, and then changes the reservation to the size of the page', async () => {
    const { store } = await createStore();
    const { next: after } = await store.changes({});
    await store.create({ id: 1n, name: 'Monstera', tag: 'Araceae' });
    const settle = vi.fn();
    const reserve = vi.fn(() => settle);
    const caller = { isGone: false, reserve };
    const page = await store.list({ limit: 10 }, { caller });
    const { changes } = await store.changes({ after, limit: 10 }, { caller });
    for (const { mock } of [reserve, settle]) expect(mock.calls).toHaveLength(2);
    expect(reserve).toHaveBeenCalledWith(2 ** 20 + 10 * 128);
    expect(settle.mock.calls).toEqual([page, ...changes].map((part) => [formatJson(part).length]));

    const full = new PlantStoreError('overloaded', 'the memory is full');
    reserve.mockImplementation(() => {
      throw full;
    });
    // If a rejected read kept its connection, the loop would use up the connections for lists.
    for (let i = 0; i < 5; i++) {
      await expect(store.list({ limit: 10 }, { caller })).rejects.toBe(full);
      await expect(store.changes({ after }, { caller })).rejects.toBe(full);
    }
    expect((await store.list({ limit: 10 })).plants).toHaveLength(1);
  });
});
