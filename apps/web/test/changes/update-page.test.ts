import { formatJson, type PlantChange } from '@plant-store/schemas';
import { QueryClient } from '@tanstack/react-query';
import { expect, it, onTestFinished, vi } from 'vitest';
import { changePage, mayLackPlants } from '../../src/changes/change-page.ts';
import { isNew, loadPage, updatePage } from '../../src/changes/update-page.ts';

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

it.each([
  ['inserts created plants', {}, [created(35n), deleted(20n), created(11n)], [11n, 30n, 35n, 40n]],
  [
    'removes a plant that is created and deleted',
    {},
    [created(35n), deleted(35n)],
    [20n, 30n, 40n],
  ],
  [
    'has only plants with the tag of the filter',
    { tag: 'Araceae' },
    [created(21n, 'Moraceae'), created(22n), created(30n, 'Moraceae', 1)],
    [20n, 22n, 40n],
  ],
  [
    'adds no plants to the results of a search, but removes deleted plants',
    { search: 'plant' },
    [created(30n), created(35n), deleted(20n)],
    [30n, 40n],
  ],
])('a page %s', (_case, filter, changes, ids) => {
  const { plants } = changePage(page, { ...query, ...filter }, changes);
  expect(plants.map(({ id }) => id)).toEqual(ids);
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

function newClient(): QueryClient {
  const client = new QueryClient({ defaultOptions: { queries: { queryKeyHashFn: formatJson } } });
  onTestFinished(() => client.clear());
  return client;
}

/** Makes a cache that contains the response to a request. */
function cacheOf(name: string, input: object, data: object) {
  const client = newClient();
  const queryKey = [[name], { input, type: 'query' }];
  client.setQueryData(queryKey, data);
  return { client, state: () => client.getQueryState(queryKey) };
}

it('applies changes that arrive between a request and its response', async () => {
  const response = Promise.withResolvers<{ plants: ReturnType<typeof plant>[] }>();
  const loading = loadPage({}, () => response.promise);
  updatePage(newClient(), [created(2n), deleted(3n)]);
  response.resolve({ plants: [plant(1n), plant(3n)] });
  expect(await loading).toEqual({ plants: [plant(1n), plant(2n)] });
});

it('updates a loaded page of plants, but adds no plants after the end of the page', () => {
  const { client, state } = cacheOf('listPlants', { limit: 3, ...query }, page);
  updatePage(client, [created(25n), created(50n), deleted(20n)]);
  const plants = [25n, 30n, 40n].map((id) => plant(id));
  expect(state()?.data).toEqual({ plants, next: 40n });
});

it('repeats a search when a created plant may match the search', async () => {
  const { client, state } = cacheOf('listPlants', { search: 'plant', ...query }, page);
  updatePage(client, [created(20n)]);
  await Promise.resolve();
  expect(state()).toMatchObject({ data: page, isInvalidated: false });
  updatePage(client, [created(21n)]);
  await expect.poll(state).toMatchObject({ data: page, isInvalidated: true });
});

it('loads a page of plants again when the page would get more than 5,000 rows', async () => {
  const data = { plants: Array.from({ length: 5_000 }, (_, i) => plant(BigInt(i))) };
  const { client, state } = cacheOf('listPlants', { limit: 500 }, data);
  updatePage(client, [created(5_000n)]);
  await expect.poll(state).toMatchObject({ data, isInvalidated: true });
});

it.each([
  ['of all plants', {}, true, 9],
  ['of the plants with a tag', { tag: 'Moraceae' }, true, 8],
  ['of more than a million plants', {}, false, 7],
])('updates the number %s only if the number is exact', (_case, input, isExact, count) => {
  const { client, state } = cacheOf('countPlants', input, { count: 7, isExact });
  updatePage(client, [created(1n), created(2n, 'Moraceae'), created(4n), deleted(3n)]);
  // The console asks for the number again later.
  expect(state()).toMatchObject({ data: { count, isExact }, isInvalidated: isExact });
});

it('loads the open plant again only when a change concerns the open plant', () => {
  const { client, state } = cacheOf('getPlant', { id: 1n }, plant(1n));
  updatePage(client, [deleted(2n)]);
  expect(state()?.isInvalidated).toBe(false);
  updatePage(client, [deleted(1n)]);
  expect(state()?.isInvalidated).toBe(true);
});

it.each([
  ['next plant', 5n, 9n, [6n, 9n], [4n, 10n]],
  ['previous plant', 5n, 2n, [2n, 4n], [1n, 6n]],
  ['next plant', 5n, null, [100n], [4n]],
  ['previous plant', 5n, null, [-100n], [6n]],
])('looks for the %s of %d again when the id %d may be wrong', (name, open, id, near, far) => {
  for (const changed of [...near, ...far]) {
    const client = newClient();
    const queryKey = [name, {}, open];
    client.setQueryData(queryKey, id);
    updatePage(client, [created(changed)]);
    const { isInvalidated } = client.getQueryState(queryKey) ?? {};
    expect(isInvalidated, String(changed)).toBe(near.includes(changed));
  }
});

it('highlights a new plant for two seconds', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  updatePage(new QueryClient(), [created(77n), deleted(78n)]);
  expect([isNew(77n), isNew(78n)]).toEqual([true, false]);
  vi.advanceTimersByTime(2_000);
  expect(isNew(77n)).toBe(false);
});
