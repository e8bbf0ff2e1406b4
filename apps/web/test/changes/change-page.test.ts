import type { PlantChange } from '@plant-store/schemas';
import { expect, it } from 'vitest';
import { changePage, countChange, mayLackPlants } from '../../src/changes/change-page.ts';

const plant = (id: bigint, tag = 'Araceae', second = 0) => ({
  id,
  name: `Plant ${id}`,
  tag,
  createdAt: new Date(1_000 * second),
});
const created = (...of: Parameters<typeof plant>): PlantChange => ({
  type: 'created',
  plant: plant(...of),
});
const deleted = (id: bigint): PlantChange => ({ type: 'deleted', plant: plant(id) });

/** A page of the list for the ids from 11 to 40. The page has the plants 20, 30 and 40. */
const page = { plants: [20n, 30n, 40n].map((id) => plant(id)), next: 40n };
const query = { after: 10n };
const idsAfter = (...changes: PlantChange[]) =>
  changePage(page, query, changes).plants.map(({ id }) => id);

it('inserts created plants in the order of ids, and removes deleted plants', () => {
  expect(idsAfter(created(35n), deleted(20n), created(11n))).toEqual([11n, 30n, 35n, 40n]);
});

it.each([
  ['before the page', created(10n)],
  ['behind the page', created(41n)],
  ['that the page already contains', created(30n)],
  ['that was deleted, and that the page never contained', deleted(31n)],
])('a page stays the same after a change of a plant %s', (_case, change) => {
  expect(changePage(page, query, [change])).toBe(page);
});

it('adds a created plant with the greatest id to the last page', () => {
  const { plants } = changePage({ ...page, next: undefined }, query, [created(2n ** 63n - 1n)]);
  expect(plants).toHaveLength(4);
});

it('replaces a plant by a later plant with the same id', () => {
  const { plants } = changePage(page, query, [deleted(30n), created(30n, 'Moraceae', 1)]);
  expect(plants[1]).toEqual(plant(30n, 'Moraceae', 1));
  expect(idsAfter(created(35n), deleted(35n))).toEqual([20n, 30n, 40n]);
});

it('has only plants with the tag in a list that is filtered by a tag', () => {
  const changes = [created(21n, 'Moraceae'), created(22n), created(30n, 'Moraceae', 1)];
  const { plants } = changePage(page, { ...query, tag: 'Araceae' }, changes);
  expect(plants.map(({ id }) => id)).toEqual([20n, 22n, 40n]);
});

it('adds no created plants to the results of a search, but removes deleted plants', () => {
  const changes = [created(30n), created(35n), deleted(20n)];
  const { plants } = changePage(page, { ...query, search: 'plant' }, changes);
  expect(plants.map(({ id }) => id)).toEqual([30n, 40n]);
});

it.each([
  ['contains the text in another case', 'PLANT 3', created(35n), true],
  ['does not contain the text', 'ficus', created(35n), false],
  ['has letters beyond ASCII beside the text', 'pflänzchen', created(35n), true],
  ['is in the page already', 'plant', created(30n), false],
  ['is another plant with a known id', 'plant', created(30n, 'Araceae', 1), true],
  ['has an id behind the page', 'plant', created(41n), false],
  ['is deleted', 'plant', deleted(35n), false],
])('knows whether a search may lack a plant that %s', (_case, search, change, lacks) => {
  expect(mayLackPlants(page, { ...query, search }, [change])).toBe(lacks);
});

it('counts created plants minus deleted plants, for all plants or for a tag', () => {
  const changes = [created(21n, 'Moraceae'), created(22n), created(23n), deleted(30n)];
  expect(countChange(undefined, changes)).toBe(2);
  expect(countChange('Moraceae', changes)).toBe(1);
});
