import { beforeAll, describe, expect, it } from 'vitest';
import { openForSuite } from '../fixtures/open-store.ts';
import { createAll, freeId, idsOf, listPages, newPlants } from '../fixtures/plants.ts';
import { profiles } from '../fixtures/profiles.ts';

const names = [
  'Monstera deliciosa',
  'MONSTERA adansonii',
  'monster',
  '100 % Monstera',
  'a_b\\c%d',
  'aXb\\cd',
  '🌿 Hoya 🌿',
  'O\'Hoya "x"',
];

describe.each(profiles)('search on $name', (profile) => {
  const suite = openForSuite(profile);
  const find = async (search: string, query: { tag?: string; limit?: number } = {}) =>
    (await listPages(suite.store, { search, ...query })).flat();

  beforeAll(async () => {
    const plants = names.map((name, i) => ({
      id: freeId(),
      name,
      ...(i % 2 === 0 && { tag: 'even' }),
    }));
    await createAll(suite.store, plants);
    await createAll(suite.store, newPlants(1_500, { name: 'Pilea' }));
  });

  it.each([
    ['monst', [0, 1, 2, 3]],
    ['MONSTERA', [0, 1, 3]],
    ['%', [3, 4]],
    ['_', [4]],
    ['\\', [4, 5]],
    ['b\\c', [4, 5]],
    ['🌿', [6]],
    ["o'hoya", [7]],
    ['"X', [7]],
    ['no-such-name', []],
  ])('finds the plants whose name contains %s, in upper or lower case', async (search, places) => {
    expect((await find(search)).map(({ name }) => name)).toEqual(places.map((i) => names[i]));
  });

  it('combines the search with a tag', async () => {
    const found = await find('monst', { tag: 'even' });
    expect(found.map(({ name }) => name)).toEqual([names[0], names[2]]);
  });

  it('finds each plant on exactly one page', async () => {
    const rare = newPlants(200).map((plant, i) => ({
      ...plant,
      name: i % 20 === 0 ? 'Ficus LYRATA' : 'Pilea',
    }));
    await createAll(suite.store, rare);
    const ids = idsOf(rare.filter(({ name }) => name === 'Ficus LYRATA'));
    for (const limit of [1, 3, 1_000]) {
      const pages = await listPages(suite.store, { search: 'lyrata', limit });
      expect(idsOf(pages.flat())).toEqual(ids);
      expect(Math.max(...pages.map(({ length }) => length))).toBeLessThanOrEqual(limit);
    }
  });

  it('finds large plants that do not fit on one page together', async () => {
    const long = newPlants(3).map((plant, i) => ({
      ...plant,
      name: (i === 1 ? 'x' : 'abundant').repeat(100_000),
    }));
    for (const plant of long) await suite.store.create(plant);
    expect(idsOf(await find('ABUNDANT'))).toEqual([long[0]?.id, long[2]?.id]);
  });
});
