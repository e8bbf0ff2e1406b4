import type { PlantChanges, StoredPlant } from '@plant-store/schemas';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  allPlants,
  createPlantStoreClient,
  followChanges,
  followPlants,
  plantStoreError,
} from '../src/index.ts';
import { client, startProxyTo, thrownBy, token, url, useServer } from './fixtures/server.ts';

useServer();

beforeEach(async () => {
  for await (const { id } of allPlants(client)) await client.deletePlant.mutate({ id });
  for (const id of [5n, -3n]) await create(id);
});

const create = (id: bigint, tag?: string) =>
  client.createPlant.mutate({ id, name: `Plant ${id}`, ...(tag && { tag }) });

const ofAnotherDatabase = btoa('0123456789abcdef 813').replaceAll('=', '');

describe('allPlants', () => {
  const [first, last] = [-(2n ** 63n), 2n ** 63n - 1n];
  const idsOf = async (plants: AsyncIterable<StoredPlant>) =>
    (await Array.fromAsync(plants)).map(({ id }) => id);

  it('yields every plant once, ascending by id, from small and large pages', async () => {
    for (const id of [last, first]) await create(id, 'Araceae');
    for (const limit of [1, 3, 1000]) {
      expect(await idsOf(allPlants(client, { limit })), `limit ${limit}`).toEqual([
        first,
        ...[-3n, 5n, last],
      ]);
    }
    expect(await idsOf(allPlants(client, { tag: 'Araceae', limit: 1 }))).toEqual([first, last]);
    expect(await idsOf(allPlants(client, { after: -3n, limit: 1 }))).toEqual([5n, last]);
  });

  it('requests only the pages that the loop needs', async () => {
    const query = vi.fn(client.listPlants.query);
    for await (const { id } of allPlants({ listPlants: { query } }, { limit: 1 })) {
      if (id === -3n) break;
    }
    expect(query).toHaveBeenCalledTimes(1);
  });
});

describe('followChanges', () => {
  const idsOf = ({ changes }: PlantChanges) => changes.map(({ plant }) => plant.id);

  it('yields a cursor and then each change once, even when a second loop continues at the last cursor', async () => {
    const loop = followChanges(client);
    const start = (await loop.next()).value ?? expect.unreachable();
    expect(start.changes).toEqual([]);
    const next = loop.next();
    await create(1n);
    const page = (await next).value ?? expect.unreachable();
    expect(idsOf(page)).toEqual([1n]);
    await loop.return();
    await create(2n);
    const later = await followChanges(client, { after: page.next }).next();
    expect(idsOf(later.value ?? expect.unreachable())).toEqual([2n]);
  });

  it('throws the error cursorExpired for an expired cursor', async () => {
    const thrown = await thrownBy(followChanges(client, { after: ofAnotherDatabase }).next());
    expect(plantStoreError(thrown)).toMatchObject({ kind: 'cursorExpired' });
  });

  it('ends when the signal aborts, even while the connection is down', async () => {
    const proxy = await startProxyTo(url);
    const distant = createPlantStoreClient({ url: proxy.url, token, retry: false });
    for (const fault of ['none', 'refuse'] as const) {
      const controller = new AbortController();
      const isDown = Promise.withResolvers();
      const options = { signal: controller.signal, onConnection: isDown.resolve };
      proxy.fault = 'none';
      const loop = followChanges(distant, options);
      await loop.next();
      proxy.fault = fault;
      const end = loop.next();
      if (fault === 'refuse') await isDown.promise;
      controller.abort();
      expect(await end).toEqual({ done: true, value: undefined });
    }
  });
});

describe('followPlants', () => {
  /** Follows the plants, and collects the ids of each list that `onPlants` receives. */
  function follow(
    store: Parameters<typeof followPlants>[0],
    options: Partial<Parameters<typeof followPlants>[1]> = {},
  ) {
    const copies: bigint[][] = [];
    const onPlants = (plants: StoredPlant[]) => copies.push(plants.map(({ id }) => id));
    const stop = followPlants(store, { onPlants, ...options });
    onTestFinished(stop);
    return {
      copies,
      stop,
      shows: (...ids: bigint[]) => vi.waitFor(() => expect(copies.at(-1)).toEqual(ids)),
    };
  }

  it('shows the plants ascending by id, and shows each change', async () => {
    const { shows } = follow(client);
    await shows(-3n, 5n);
    await create(9007199254740993n);
    await shows(-3n, 5n, 9007199254740993n);
    await client.deletePlant.mutate({ id: -3n });
    await shows(5n, 9007199254740993n);
  });

  it('shows only the plants with the given tag, and drops a plant that loses the tag', async () => {
    await create(1n, 'Araceae');
    const { shows } = follow(client, { tag: 'Araceae' });
    await shows(1n);
    await create(2n);
    await create(3n, 'Araceae');
    await shows(1n, 3n);
    await client.replacePlant.mutate({ id: 1n, name: 'Plant 1', tag: 'Cactaceae' });
    await shows(3n);
  });

  it('shows the changes between the response with the cursor and the list of plants', async () => {
    const fetch = vi.fn(globalThis.fetch);
    // The first response contains the cursor.
    fetch.mockImplementationOnce(async (...request) => {
      const response = await globalThis.fetch(...request);
      await create(7n);
      await client.deletePlant.mutate({ id: -3n });
      return response;
    });
    const { copies, shows } = follow(createPlantStoreClient({ url, token, fetch }));
    await vi.waitFor(() => expect(copies.length).toBeGreaterThan(1));
    await shows(5n, 7n);
  });

  it('lists the plants again when the cursor has expired', async () => {
    const query = vi.fn(client.listPlantChanges.query);
    query.mockResolvedValueOnce({ changes: [], next: ofAnotherDatabase });
    const { listPlants } = client;
    const { copies, shows } = follow({ listPlants, listPlantChanges: { query } });
    await vi.waitFor(() => expect(copies.length).toBeGreaterThan(1));
    await create(6n);
    await shows(-3n, 5n, 6n);
  });

  it('says when the connection is down, and continues when it works again', async () => {
    const proxy = await startProxyTo(url);
    proxy.fault = 'refuse';
    const onConnection = vi.fn();
    const { shows } = follow(createPlantStoreClient({ url: proxy.url, token }), { onConnection });
    await vi.waitFor(() => expect(proxy.accepted).toBeGreaterThan(1));
    proxy.fault = 'none';
    await shows(-3n, 5n);
    proxy.fault = 'refuse';
    await vi.waitFor(() => expect(onConnection).toHaveBeenCalledTimes(3));
    await create(6n);
    proxy.fault = 'none';
    await shows(-3n, 5n, 6n);
    const states = onConnection.mock.calls.map(([error]) => error && plantStoreError(error)?.kind);
    expect(states).toEqual(['noResponse', undefined, 'noResponse', undefined]);
  });

  it('reports a permanent error', async () => {
    const stranger = createPlantStoreClient({ url, token: 'unknown' });
    const error = await new Promise((onError) => void follow(stranger, { onError }));
    expect(plantStoreError(error)).toMatchObject({ kind: 'tokenInvalid' });
  });

  it('closes the connection when the caller stops followPlants', async () => {
    const proxy = await startProxyTo(url);
    const onError = vi.fn();
    const { listPlantChanges } = createPlantStoreClient({ url: proxy.url, token });
    const { shows, stop } = follow(
      { listPlants: client.listPlants, listPlantChanges },
      { onError },
    );
    await shows(-3n, 5n);
    await vi.waitFor(() => expect(proxy.open).toBeGreaterThan(0));
    stop();
    await vi.waitFor(() => expect(proxy.open).toBe(0));
    expect(onError).not.toHaveBeenCalled();
  });
});
