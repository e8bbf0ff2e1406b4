import type { PlantPage } from '@plant-store/schemas';
import { InfiniteQueryObserver, QueryClient } from '@tanstack/react-query';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { allPlants, followPlantPages, plantPages, queryDefaults } from '../src/index.ts';
import { client, useServer } from './fixtures/server.ts';

type PlantPagesQuery = Parameters<typeof plantPages>[1];

useServer();

const ids = [-(2n ** 63n), -1n, 1n, 5n, 9007199254740993n, 2n ** 63n - 1n];

const create = (id: bigint, tag?: string) =>
  client.createPlant.mutate({ id, name: `Plant ${id}`, ...(tag && { tag }) });

beforeEach(async () => {
  for await (const { id } of allPlants(client)) await client.deletePlant.mutate({ id });
  await Promise.all(ids.map((id) => create(id, id < 0n ? 'negative' : undefined)));
});

const newQueryClient = () => new QueryClient({ defaultOptions: { queries: queryDefaults } });

it('queryDefaults reuses equal objects at the same place of the previous response', async () => {
  const queryClient = newQueryClient();
  const options = plantPages(client);
  const load = async () => {
    await queryClient.fetchInfiniteQuery(options);
    return queryClient.getQueryData<{ pages: PlantPage[] }>(options.queryKey)?.pages[0];
  };
  const first = await load();
  expect(first?.plants).toHaveLength(ids.length);
  expect(await load()).toBe(first);
  await client.deletePlant.mutate({ id: 2n ** 63n - 1n });
  const next = await load();
  expect(next?.plants).toHaveLength(ids.length - 1);
  expect(next?.plants[0]).toBe(first?.plants[0]);
});

/** Loads all pages of a query with an observer of TanStack Query, as a web page does. */
async function showPages(query: PlantPagesQuery, queryClient = newQueryClient()) {
  const list = vi.fn(client.listPlants.query);
  const store = {
    ...client,
    listPlants: { query: list },
    listPlantChanges: client.listPlantChanges,
  };
  const observer = new InfiniteQueryObserver(queryClient, plantPages(store, query));
  onTestFinished(observer.subscribe(() => {}));
  await vi.waitFor(() => expect(observer.getCurrentResult().isSuccess).toBe(true));
  while (observer.getCurrentResult().hasNextPage) await observer.fetchNextPage();
  const shown = () =>
    observer.getCurrentResult().data?.pages.map(({ plants }) => plants.map(({ id }) => id));
  return {
    list,
    store,
    queryClient,
    shown,
    shows: (pages: bigint[][]) => vi.waitFor(() => expect(shown()).toEqual(pages)),
  };
}

it('plantPages returns options that load all pages of a query', async () => {
  const { shown } = await showPages({ limit: 4 });
  expect(shown()).toEqual([ids.slice(0, 4), ids.slice(4)]);
});

it('followPlantPages shows each change, with at most `limit` plants on each page', async () => {
  const query = { limit: 2 };
  const { store, queryClient, list, shows } = await showPages(query);
  onTestFinished(followPlantPages(store, queryClient, query));
  const { length } = list.mock.calls;
  await vi.waitFor(() => expect(list.mock.calls.length).toBeGreaterThan(length));
  await vi.waitFor(() => expect(queryClient.isFetching()).toBe(0));
  await create(2n);
  await shows([ids.slice(0, 2), [1n, 2n], [5n, 9007199254740993n]]);
  await client.deletePlant.mutate({ id: -1n });
  await shows([[-(2n ** 63n), 1n], [2n, 5n], ids.slice(4)]);
});
