import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  dehydrate,
  hydrate,
  InfiniteQueryObserver,
  QueryClient,
  QueryObserver,
} from '@tanstack/react-query';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  allPlants,
  createPlantStoreClient,
  deserialize,
  followPlantPages,
  hashQueryKey,
  type PlantPage,
  type PlantPagesQuery,
  plantPages,
  queryDefaults,
  serialize,
} from '../src/index.ts';
import { client, url, useServer } from './fixtures/server.ts';

useServer();

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

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

  it('works without JSON.rawJSON, which Node 20 does not have', () => {
    vi.stubGlobal('JSON', { stringify: JSON.stringify });
    onTestFinished(() => void vi.unstubAllGlobals());
    expect(hashQueryKey(['getPlant', { id: 2n ** 63n - 1n }])).toContain('9223372036854775807');
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

  it('shows a change that arrives while the pages are loading', async () => {
    const { list, store, queryClient, shown } = await showPages({ limit: 4 });
    const before = list.mock.calls.length;
    onTestFinished(followPlantPages(store, queryClient, { limit: 4 }));
    await vi.waitFor(() => expect(list.mock.calls.length).toBeGreaterThanOrEqual(before + 2));
    await vi.waitFor(() => expect(queryClient.isFetching()).toBe(0));
    await create(2n);
    await vi.waitFor(() => expect(shown()?.flat()).toContain(2n));
    // The first page is read before the change, and the second page arrives after the change.
    const gate = Promise.withResolvers<void>();
    const loadSlowly = async (...call: Parameters<typeof client.listPlants.query>) => {
      const page = await client.listPlants.query(...call);
      if (call[0]?.after !== undefined) await gate.promise;
      return page;
    };
    // tRPC has its own type of promise, so the mock needs a cast.
    list.mockImplementation(loadSlowly as typeof client.listPlants.query);
    const calls = list.mock.calls.length;
    const refetch = queryClient.refetchQueries({ queryKey: ['plantPages'] });
    await vi.waitFor(() => expect(list.mock.calls.length).toBeGreaterThanOrEqual(calls + 2));
    await client.deletePlant.mutate({ id: 1n });
    await vi.waitFor(() => expect(shown()?.flat()).not.toContain(1n));
    gate.resolve();
    await refetch;
    expect(shown()?.flat()).not.toContain(1n);
    expect(shown()?.flat()).toContain(2n);
  });

  it('shows a change that the very first load and the first cursor lack', async () => {
    const [isRead, mayArrive] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const list = vi.fn(client.listPlants.query);
    const loadSlowly = async (...call: Parameters<typeof client.listPlants.query>) => {
      const page = await client.listPlants.query(...call);
      isRead.resolve();
      await mayArrive.promise;
      return page;
    };
    // tRPC has its own type of promise, so the mock needs a cast.
    list.mockImplementationOnce(loadSlowly as typeof client.listPlants.query);
    const cursor = vi.fn(client.listPlantChanges.query);
    const store = { ...client, listPlants: { query: list }, listPlantChanges: { query: cursor } };
    const queryClient = newQueryClient();
    const observer = new InfiniteQueryObserver(queryClient, plantPages(store));
    onTestFinished(observer.subscribe(() => {}));
    await isRead.promise;
    await create(2n);
    onTestFinished(followPlantPages(store, queryClient));
    // The second call has the first cursor, so this cursor has arrived before the pages.
    await vi.waitFor(() => expect(cursor.mock.calls.length).toBe(2));
    mayArrive.resolve();
    const shown = () => observer.getCurrentResult().data?.pages[0]?.plants.map(({ id }) => id);
    await vi.waitFor(() => expect(shown()).toContain(2n));
  });

  it('loads old pages again when a web page shows them after a change', async () => {
    const queryClient = newQueryClient();
    await queryClient.fetchInfiniteQuery(plantPages(client));
    await create(2n);
    const { queryKey } = plantPages(client);
    onTestFinished(followPlantPages(client, queryClient));
    await vi.waitFor(() => expect(queryClient.getQueryState(queryKey)?.isInvalidated).toBe(true));
    await create(3n);
    const shown = () =>
      queryClient
        .getQueryData<{ pages: PlantPage[] }>(queryKey)
        ?.pages[0]?.plants.map(({ id }) => id);
    await vi.waitFor(() => expect(shown()).toContain(3n));
    const options = { ...plantPages(client), staleTime: Infinity };
    const observer = new InfiniteQueryObserver(queryClient, options);
    onTestFinished(observer.subscribe(() => {}));
    await vi.waitFor(() => expect(shown()).toContain(2n));
  });

  it('does not keep the changes that arrive while no load is running', async () => {
    const arrived: WeakRef<object>[] = [];
    const isIdle = Promise.withResolvers<void>();
    const nextPage = async () => {
      if (arrived.length === 10) isIdle.resolve();
      if (arrived.length === 10) return new Promise(() => {});
      const plant = { id: 1n, name: 'x', createdAt: new Date() };
      arrived.push(new WeakRef(plant));
      return { changes: [{ type: 'created', plant }], next: `${arrived.length}` };
    };
    // tRPC has its own type of promise, so the function needs a cast.
    const query = nextPage as unknown as typeof client.listPlantChanges.query;
    const store = { ...client, listPlantChanges: { query } };
    onTestFinished(followPlantPages(store, newQueryClient()));
    await isIdle.promise;
    await vi.waitFor(() => {
      collectGarbage();
      const isKept = arrived[0]?.deref() !== undefined; // A failed `expect` would keep the plant.
      expect(isKept).toBe(false);
    });
  });

  it('reports a permanent error', async () => {
    const stranger = createPlantStoreClient({ url, token: 'unknown' });
    const error = await new Promise((onError) =>
      onTestFinished(followPlantPages(stranger, newQueryClient(), { onError })),
    );
    expect(error).toMatchObject({ data: { error: 40101 } });
  });
});

it('ends the request of a cancelled query without an error', async () => {
  const queryClient = newQueryClient();
  const observer = new QueryObserver(queryClient, {
    queryKey: ['changes'],
    queryFn: async ({ signal }) => {
      const { next: after } = await client.listPlantChanges.query();
      return client.listPlantChanges.query({ after, wait: 20 }, { signal });
    },
  });
  onTestFinished(observer.subscribe(() => {}));
  await queryClient.cancelQueries();
  expect(observer.getCurrentResult()).toMatchObject({ fetchStatus: 'idle', error: null });
});
