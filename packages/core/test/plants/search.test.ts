import type { StoredPlant } from '@plant-store/schemas';
import superjson from 'superjson';
import { beforeAll, describe, expect, it } from 'vitest';
import { createPlantLoader } from '../../src/bulk/plant-loader.ts';
import { deadlineIn } from '../../src/database/deadline.ts';
import { jsonOf, superjsonOf } from '../../src/plants/output-text.ts';
import { createPageReader, type PageQuery } from '../../src/plants/pages.ts';
import { searchBounds } from '../../src/plants/search.ts';
import { embedded, server, shareDatabase } from '../fixtures/databases.ts';

const names = [
  'Monstera deliciosa',
  'MONSTERA adansonii',
  'monster',
  '100 % Monstera',
  'a_b\\c%d',
  'aXb\\cd',
  '🌿 Hoya 🌿',
  'Ölweide',
  'O\'Hoya "x"',
];

const databases = [
  { ...embedded, bounds: searchBounds.embedded },
  { ...server, bounds: searchBounds.postgres },
];

describe.each(databases)('a search for a part of the name on $name', ({ provide, bounds }) => {
  const database = shareDatabase(provide);

  /** Reads a page of a search. `rows` and `milliseconds` limit the work for the page. */
  function page(query: Partial<PageQuery>, rows = 50_000, milliseconds = 600_000) {
    const readPage = createPageReader(database, { ...bounds, rows, milliseconds });
    return readPage({ limit: 100, ...query }, { share: 'lists', deadline: deadlineIn(60_000) });
  }
  const idsOf = (plants: readonly StoredPlant[]) => plants.map(({ id }) => Number(id));

  /** Reads all pages, and returns the ids of each page. */
  async function walk(query: Partial<PageQuery>, ...bounds: number[]): Promise<number[][]> {
    const pages: number[][] = [];
    for (let after: bigint | undefined; ; ) {
      const { plants, next } = await page({ ...query, after }, ...bounds);
      pages.push(idsOf(plants));
      if (next === undefined) return pages;
      expect(next).toBeGreaterThan(after ?? -(2n ** 63n));
      after = next;
    }
  }

  beforeAll(async () => {
    await createPlantLoader(database).load([
      ...names.map((name, i) => ({ id: BigInt(i + 1), name, ...(i % 2 === 0 && { tag: 'even' }) })),
      ...Array.from({ length: 100 }, (_, i) => ({
        id: BigInt(101 + i),
        name: i % 10 === 0 ? 'Ficus LYRATA' : 'Pilea',
        ...(i % 20 === 0 && { tag: 'even' }),
      })),
    ]);
  });

  it.each([
    ['monst', [1, 2, 3, 4]],
    ['MONSTERA', [1, 2, 4]],
    ['%', [4, 5]],
    ['_', [5]],
    ['\\', [5, 6]],
    ['b\\c', [5, 6]],
    ['🌿', [7]],
    ['\'hoya "X', [9]],
    [' deliciosa', [1]],
    ['no such name', []],
  ])('finds the plants whose name contains %s in upper or lower case', async (search, ids) => {
    const { plants, ...rest } = await page({ search });
    expect(idsOf(plants)).toEqual(ids);
    expect(rest).toEqual({});
  });

  it('combines the search text with a tag, an id and a limit', async () => {
    expect(idsOf((await page({ search: 'monst', tag: 'even' })).plants)).toEqual([1, 3]);
    expect(idsOf((await page({ search: 'monst', after: 1n })).plants)).toEqual([2, 3, 4]);
    const { plants, next } = await page({ search: 'monst', limit: 2 });
    expect(idsOf(plants)).toEqual([1, 2]);
    expect(next).toBe(2n);
    const last = await page({ search: 'monst', limit: 2, after: next });
    expect(idsOf(last.plants)).toEqual([3, 4]);
    expect(last).not.toHaveProperty('next');
  });

  it('returns the id of the last compared plant as `next`, even when no plant matches', async () => {
    const search = 'lyrata';
    const empty = await page({ search, after: 101n }, 5);
    expect(empty).toEqual({ plants: [], next: 106n });
    expect(jsonOf(empty)).toBe('{"plants":[],"next":106}');
    expect(superjsonOf(empty)).toBe(JSON.stringify(superjson.serialize(empty)));
    const { plants, next } = await page({ search, after: 101n }, 15);
    expect(idsOf(plants)).toEqual([111]);
    expect(next).toBe(116n);
    const atMatch = await page({ search, after: 101n }, 10);
    expect(idsOf(atMatch.plants)).toEqual([111]);
    expect(atMatch.next).toBe(111n);
    const limited = await page({ search, after: 101n, limit: 1 }, 50);
    expect(idsOf(limited.plants)).toEqual([111]);
    expect(limited.next).toBe(111n);
  });

  it('finds each plant on exactly one page', async () => {
    const ids = Array.from({ length: 10 }, (_, i) => 101 + 10 * i);
    for (const limit of [1, 3, 100]) {
      for (const rows of [1, 2, 7, 10, 109, 1_000]) {
        const pages = await walk({ search: 'lyrata', limit }, rows);
        expect(pages.flat(), `${limit} of ${rows}`).toEqual(ids);
        expect(Math.max(...pages.map(({ length }) => length))).toBeLessThanOrEqual(limit);
      }
    }
    const tagged = await walk({ search: 'LYRATA', tag: 'even', limit: 1 }, 2);
    expect(tagged.flat()).toEqual([101, 121, 141, 161, 181]);
  });

  it('ignores the case of the letters for which the database knows both cases', async () => {
    const options = { share: 'lists', deadline: deadlineIn(60_000) } as const;
    const { rows } = await database.read(`select lower('Ö') = 'ö'`, [], options);
    const { plants } = await page({ search: 'ölweide' });
    expect(idsOf(plants)).toEqual((rows as [[boolean]])[0][0] ? [8] : []);
  });

  it('ends a page before a plant that makes the page larger than 1 MiB', async () => {
    const long = [2 ** 18, 2 ** 22, 2 ** 18].map((length, i) => ({
      id: BigInt(300 + i),
      name: i === 1 ? 'x'.repeat(length) : 'rare'.repeat(length),
    }));
    await createPlantLoader(database).load(long);
    expect(await walk({ search: 'RARE' })).toEqual([[300], [302]]);
  });

  it('ends a page at its time limit, and still finds each plant on exactly one page', async () => {
    // With a time limit of 0 ms, a page compares only one plant. Here, this plant has the id 301.
    expect(await page({ search: 'RARE', after: 300n }, 50_000, 0)).toEqual({
      plants: [],
      next: 301n,
    });
    expect((await walk({ search: 'RARE' }, 50_000, 0)).flat()).toEqual([300, 302]);
    const ids = Array.from({ length: 10 }, (_, i) => 101 + 10 * i);
    expect((await walk({ search: 'lyrata', limit: 3 }, 50_000, 0)).flat()).toEqual(ids);
  });
});
