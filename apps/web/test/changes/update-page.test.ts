import { formatJson, type PlantChange } from '@plant-store/schemas';
import { QueryClient } from '@tanstack/react-query';
import { expect, it, onTestFinished, vi } from 'vitest';
import { isNew, loadPage, updatePage } from '../../src/changes/update-page.ts';

const plant = (id: bigint) => ({ id, name: `Plant ${id}`, createdAt: new Date(0) });
const created = (id: bigint): PlantChange => ({ type: 'created', plant: plant(id) });
const deleted = (id: bigint): PlantChange => ({ type: 'deleted', plant: plant(id) });

function newClient(): QueryClient {
  const client = new QueryClient({ defaultOptions: { queries: { queryKeyHashFn: formatJson } } });
  onTestFinished(() => client.clear());
  return client;
}

/** Makes a cache that contains a response for each query. */
function cacheOf(responses: Readonly<Record<string, [input: object, data: object]>>) {
  const client = newClient();
  const keys = Object.entries(responses).map(([name, [input, data]]) => {
    const queryKey = [[name], { input, type: 'query' }];
    client.setQueryData(queryKey, data);
    return queryKey;
  });
  const stateOf = (index = 0) => client.getQueryState(keys[index] ?? []);
  return { client, stateOf };
}

it('applies changes that arrive between a request and its response', async () => {
  const response = Promise.withResolvers<{ plants: ReturnType<typeof plant>[] }>();
  const page = loadPage({}, () => response.promise);
  updatePage(newClient(), [created(2n), deleted(3n)]);
  response.resolve({ plants: [plant(1n), plant(3n)] });
  expect(await page).toEqual({ plants: [plant(1n), plant(2n)] });
});

it('updates a loaded page of plants, but adds no plants after the end of the page', () => {
  const page = { plants: [plant(1n), plant(4n)], next: 4n };
  const { client, stateOf } = cacheOf({ listPlants: [{ limit: 2 }, page] });
  updatePage(client, [created(3n), created(5n), deleted(1n)]);
  expect(stateOf()?.data).toEqual({ plants: [plant(3n), plant(4n)], next: 4n });
});

it('repeats a search when a created plant may match the search', async () => {
  const page = { plants: [plant(1n)] };
  const { client, stateOf } = cacheOf({ listPlants: [{ limit: 2, search: 'plant' }, page] });
  updatePage(client, [created(1n)]);
  await Promise.resolve();
  expect(stateOf()).toMatchObject({ data: page, isInvalidated: false });
  updatePage(client, [created(2n)]);
  await expect.poll(() => stateOf()).toMatchObject({ data: page, isInvalidated: true });
});

it('loads a page of plants again when the page would get more than 5,000 rows', async () => {
  const page = { plants: Array.from({ length: 5_000 }, (_, i) => plant(BigInt(i))) };
  const { client, stateOf } = cacheOf({ listPlants: [{ limit: 500 }, page] });
  updatePage(client, [created(5_000n)]);
  await expect.poll(() => stateOf()).toMatchObject({ data: page, isInvalidated: true });
});

it('updates the number of plants after changes, and asks for the number again later', () => {
  const { client, stateOf } = cacheOf({
    countPlants: [{}, { count: 7, isExact: true }],
  });
  updatePage(client, [created(1n), created(2n), deleted(3n)]);
  expect(stateOf()).toMatchObject({ data: { count: 8, isExact: true }, isInvalidated: true });
});

it('does not count changes when there are more than a million plants', () => {
  const data = { count: 1_000_000, isExact: false };
  const { client, stateOf } = cacheOf({ countPlants: [{}, data] });
  updatePage(client, [created(1n)]);
  expect(stateOf()).toMatchObject({ data, isInvalidated: false });
});

it('loads the open plant again only when a change concerns the open plant', () => {
  const { client, stateOf } = cacheOf({ getPlant: [{ id: 1n }, plant(1n)] });
  updatePage(client, [deleted(2n)]);
  expect(stateOf()?.isInvalidated).toBe(false);
  updatePage(client, [deleted(1n)]);
  expect(stateOf()?.isInvalidated).toBe(true);
});

it.each([
  ['next plant', 5n, 9n, [6n, 9n], [4n, 10n]],
  ['previous plant', 5n, 2n, [2n, 4n], [1n, 6n]],
  ['next plant', 5n, null, [100n], [4n]],
  ['previous plant', 5n, null, [-100n], [6n]],
])('looks for the %s of %d again when the id %d may be wrong', (name, open, id, near, far) => {
  for (const [changed, isInvalidated] of [
    [far, false],
    [near, true],
  ] as const) {
    for (const each of changed) {
      const client = newClient();
      const queryKey = [name, {}, open];
      client.setQueryData(queryKey, id);
      updatePage(client, [created(each)]);
      expect(client.getQueryState(queryKey)?.isInvalidated, String(each)).toBe(isInvalidated);
    }
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
