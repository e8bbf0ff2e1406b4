import { dehydrate, hydrate, InfiniteQueryObserver, QueryClient } from '@tanstack/react-query';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  allPlants,
  deserialize,
  followPlantPages,
  hashQueryKey,
  type PlantPage,
  type PlantPagesQuery,
  plantPages,
  queryDefaults,
  serialize,
} from '../src/index.ts';
import { client, useServer } from './fixtures/server.ts';

useServer();

const ids = [-(2n ** 63n), -1n, 1n, 5n, 9007199254740993n, 2n ** 63n - 1n];

const create = (id: bigint, tag?: string) =>
  client.createPlant.mutate({ id, name: `Plant ${id}`, ...(tag && { tag }) });

beforeEach(async () => {
  for await (const { id } of allPlants(client)) await client.deletePlant.mutate({ id });
  await Promise.all(ids.map((id) => create(id, id < 0n ? 'negative' : undefined)));
});

const newQueryClient = () => new QueryClient({ defaultOptions: { queries: queryDefaults } });

describe('hashQueryKey', () => {
  it('gives equal keys the same text, and different keys different texts', () => {
    const of = (key: unknown) => hashQueryKey([key]);
    expect(of({ tag: 'a', id: 1n, limit: undefined })).toBe(of({ id: 1, tag: 'a' }));
    expect(of({ a: { c: 1, b: [2n] } })).toBe(of({ a: { b: [2], c: 1 } }));
    expect(of(new Date(0))).toBe(of(new Date(0)));
    const others = [9007199254740992n, 9007199254740993n, '1', 1n, null, [1n], { 1: 1n }, {}, []];
    expect(new Set(others.map(of)).size).toBe(others.length);
  });
});

describe('a query client with queryDefaults', () => {
  it('reuses the object of an unchanged plant after another request', async () => {
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
});

describe('serialize', () => {
  it('writes a text from which deserialize restores the same ids, times and keys', async () => {
    const queryClient = newQueryClient();
    const queryKey = ['getPlant', { id: 5n, text: '</script>' }];
    const queryFn = () => client.getPlant.query({ id: 5n });
    const plant = await queryClient.fetchQuery({ queryKey, queryFn });
    const text = serialize(dehydrate(queryClient));
    expect(text).not.toContain('<');
    const copy = newQueryClient();
    hydrate(copy, deserialize(text));
    expect(copy.getQueryData(queryKey)).toStrictEqual(plant);
    expect(copy.getQueryCache().getAll()[0]?.queryKey).toStrictEqual(queryKey);
  });
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

describe('plantPages', () => {
  it('returns options that load all pages of a query', async () => {
    const { shown } = await showPages({ limit: 4 });
    expect(shown()).toEqual([ids.slice(0, 4), ids.slice(4)]);
  });
});

describe('followPlantPages', () => {
  it('updates the loaded pages without another request', async () => {
    const { list, store, queryClient, shows } = await showPages({ limit: 2 });
    const { length } = list.mock.calls;
    onTestFinished(followPlantPages(store, queryClient, { limit: 2 }));
    // The pages are loaded a second time, because the first load may be older than the cursor.
    await vi.waitFor(() => expect(list.mock.calls.length).toBeGreaterThanOrEqual(length + 3));
    await vi.waitFor(() => expect(queryClient.isFetching()).toBe(0));
    const loaded = list.mock.calls.length;
    await create(2n);
    await shows([ids.slice(0, 2), [1n, 2n, 5n], ids.slice(4)]);
    await client.deletePlant.mutate({ id: -1n });
    await shows([ids.slice(0, 1), [1n, 2n, 5n], ids.slice(4)]);
    expect(list.mock.calls.length).toBe(loaded);
  });

  it('adds only the new plants that match the query', async () => {
    const query = { tag: 'negative', search: 'PLANT -' };
    const { store, queryClient, shows } = await showPages(query);
    onTestFinished(followPlantPages(store, queryClient, query));
    await create(2n);
    await create(-7n, 'other');
    await create(-5n, 'negative');
    await shows([[-(2n ** 63n), -5n, -1n]]);
  });
});
