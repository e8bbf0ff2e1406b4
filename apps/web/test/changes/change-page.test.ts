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

/** A page with the plants 20, 30 and 40, for the ids from 11 to 40. */
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

it('the last page contains all later plants', () => {
  const { plants } = changePage({ ...page, next: undefined }, query, [created(2n ** 63n - 1n)]);
  expect(plants).toHaveLength(4);
});

it('shows the latest of several plants with the same id', () => {
  const { plants } = changePage(page, query, [deleted(30n), created(30n, 'Moraceae', 1)]);
  expect(plants[1]).toEqual(plant(30n, 'Moraceae', 1));
  expect(idsAfter(created(35n), deleted(35n))).toEqual([20n, 30n, 40n]);
});

it('a page of a tag contains only plants with this tag', () => {
  const changes = [created(21n, 'Moraceae'), created(22n), created(30n, 'Moraceae', 1)];
  const { plants } = changePage(page, { ...query, tag: 'Araceae' }, changes);
  expect(plants.map(({ id }) => id)).toEqual([20n, 22n, 40n]);
});

it('adds no created plants to a page of a search, and keeps the plants of the page', () => {
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
])('whether a page of a search lacks a plant that %s', (_case, search, change, lacks) => {
  expect(mayLackPlants(page, { ...query, search }, [change])).toBe(lacks);
});

it('counts created and deleted plants, with any tag or with the given tag', () => {
  const changes = [created(21n, 'Moraceae'), created(22n), created(23n), deleted(30n)];
  expect(countChange(undefined, changes)).toBe(2);
  expect(countChange('Moraceae', changes)).toBe(1);
});
