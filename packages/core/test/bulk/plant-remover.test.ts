import { beforeEach, describe, expect, it } from 'vitest';
import { embedded, removePlants, server, shareStore } from '../fixtures/databases.ts';

describe.each([embedded, server])('on $name', ({ provide }) => {
  const store = shareStore(provide);

  beforeEach(async () => {
    await removePlants(store);
    await store.load([1n, 2n, -(2n ** 63n), 2n ** 63n - 1n].map((id) => ({ id, name: 'Hoya' })));
  });

  it('deletes the plants with the given ids, and returns the number of deleted plants', async () => {
    expect(await store.deleteMany([2n ** 63n - 1n, 5n, -(2n ** 63n), 1n, 1n])).toBe(3);
    expect(await store.deleteMany([1n])).toBe(0);
    expect(await store.deleteMany([])).toBe(0);
    expect((await store.list({ limit: 10 })).plants.map(({ id }) => id)).toEqual([2n]);
    expect(await store.count()).toBe(1);
  });

  it('lets several callers delete the same plants at the same time', async () => {
    const ids = Array.from({ length: 500 }, (_, i) => BigInt(i));
    await store.load(ids.slice(3).map((id) => ({ id, name: 'Hoya' })));
    const counts = await Promise.all(
      [ids, ids.toReversed(), ids.slice(100)].map((each) => store.deleteMany(each)),
    );
    expect(counts.reduce((sum, count) => sum + count)).toBe(499);
  });
});
