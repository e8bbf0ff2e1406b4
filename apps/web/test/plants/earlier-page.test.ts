import { expect, it } from 'vitest';
import { findEarlierPage, findLastId, likelyDistance } from '../../src/plants/earlier-page.ts';

const pageSize = 500;

function storeOf(ids: readonly bigint[]) {
  const store = {
    requests: 0,
    async list(after: bigint | undefined) {
      store.requests++;
      const found = ids.filter((id) => after === undefined || id > after);
      const plants = found.slice(0, pageSize).map((id) => ({ id }));
      return { plants, next: found.length > pageSize ? plants.at(-1)?.id : undefined };
    },
  };
  return store;
}

const range = (count: number, id: (i: number) => bigint) =>
  Array.from({ length: count }, (_, i) => id(i));

it.each([
  ['dense', range(5_000, (i) => BigInt(i)), 4_000n],
  ['sparse', range(5_000, (i) => BigInt(i) * 10n ** 15n), 4_000n * 10n ** 15n],
  ['partly dense', [...range(3_000, (i) => BigInt(i)), 2n ** 62n, 2n ** 62n + 1n], 2n ** 62n],
  ['the least ids', range(3_000, (i) => -(2n ** 63n) + BigInt(i)), -(2n ** 63n) + 2_000n],
])(
  'finds the plants before an id with a few requests when the ids are %s',
  async (_case, ids, end) => {
    for (const distance of [1n, 250n, 10n ** 15n]) {
      const store = storeOf(ids);
      const { after, rowCount } = await findEarlierPage(store.list, end, distance);
      const between = ids.filter((id) => id <= end && (after === undefined || id > after));
      expect(rowCount).toBe(between.length);
      expect(rowCount).toBeGreaterThan(0);
      expect(rowCount).toBeLessThanOrEqual(pageSize);
      expect(store.requests).toBeLessThan(30);
      const whole = storeOf(ids);
      expect(await findLastId(whole.list, ids[0] ?? 0n, distance)).toBe(ids.at(-1));
      expect(whole.requests).toBeLessThan(70);
    }
  },
);

it('returns zero rows when the store has no plant before the id', async () => {
  const store = storeOf([5n, 6n]);
  expect(await findEarlierPage(store.list, 4n, 1n)).toEqual({ after: undefined, rowCount: 0 });
});

it('finds the earlier page with one request when the gaps between the ids are equal', async () => {
  const ids = range(100_000, (i) => BigInt(i) * 977n);
  const behind = ids.slice(50_000, 50_500).map((id) => ({ id }));
  const store = storeOf(ids);
  const end = 50_000n * 977n - 1n;
  const { rowCount } = await findEarlierPage(store.list, end, likelyDistance(behind, pageSize));
  expect(rowCount).toBeGreaterThan(200);
  expect(store.requests).toBe(1);
});
