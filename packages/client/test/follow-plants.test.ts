import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import {
  allPlants,
  createPlantStoreClient,
  followPlants,
  plantStoreError,
  type StoredPlant,
} from '../src/index.ts';
import { client, startProxyTo, token, url, useServer } from './fixtures/server.ts';

useServer();

beforeEach(async () => {
  for await (const { id } of allPlants(client)) await client.deletePlant.mutate({ id });
  for (const id of [5n, -3n]) await create(id);
});

const create = (id: bigint, tag?: string) =>
  client.createPlant.mutate({ id, name: `Plant ${id}`, ...(tag && { tag }) });

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

/** Calls a function after the server has responded, and before the client receives the response. */
function beforeResponse(procedure: string, then: () => Promise<unknown>): void {
  const { fetch } = globalThis;
  const spy = vi.spyOn(globalThis, 'fetch').mockImplementation(async (...request) => {
    const response = await fetch(...request);
    if (!String(request[0]).includes(`/trpc/${procedure}?`)) return response;
    spy.mockRestore();
    await then();
    return response;
  });
  onTestFinished(() => spy.mockRestore());
}

it('shows the plants ascending by id, and shows each change', async () => {
  const { shows } = follow(client);
  await shows(-3n, 5n);
  await create(9007199254740993n);
  await shows(-3n, 5n, 9007199254740993n);
  await client.deletePlant.mutate({ id: -3n });
  await shows(5n, 9007199254740993n);
});

it('shows only the plants with the given tag, and drops a plant that another plant replaces', async () => {
  await create(1n, 'Araceae');
  const { shows } = follow(client, { tag: 'Araceae' });
  await shows(1n);
  await create(2n);
  await create(3n, 'Araceae');
  await shows(1n, 3n);
  await client.deletePlant.mutate({ id: 1n });
  await create(1n, 'Cactaceae');
  await shows(3n);
});

it('shows the changes that happen after the client reads the cursor and before the client reads the list', async () => {
  const changes = async () => {
    await create(7n);
    await client.deletePlant.mutate({ id: 7n });
    await create(7n, 'a second time');
    await client.deletePlant.mutate({ id: -3n });
    await create(8n);
  };
  beforeResponse('listPlantChanges', changes);
  const { copies, shows } = follow(client);
  await vi.waitFor(() => expect(copies.length).toBeGreaterThan(1));
  await shows(5n, 7n, 8n);
});

it('lists the plants again when the cursor has expired', async () => {
  const ofAnotherDatabase = btoa('0123456789abcdef 813').replaceAll('=', '');
  const cursors = vi
    .fn(client.listPlantChanges.query)
    .mockResolvedValueOnce({ changes: [], next: ofAnotherDatabase });
  const { listPlants } = client;
  const { copies, shows } = follow({
    listPlants,
    listPlantChanges: { query: cursors },
  });
  await vi.waitFor(() => expect(copies.length).toBeGreaterThan(1));
  await create(6n);
  await shows(-3n, 5n, 6n);
  expect(cursors.mock.calls.length).toBeGreaterThan(1);
});

it('says when the connection is down, and continues when it works again', async () => {
  const proxy = await startProxyTo(url);
  proxy.fault = 'refuse';
  const onConnection = vi.fn();
  const store = createPlantStoreClient({ url: proxy.url, token });
  const { shows } = follow(store, { onConnection });
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
  const { shows, stop } = follow({ listPlants: client.listPlants, listPlantChanges }, { onError });
  await shows(-3n, 5n);
  await vi.waitFor(() => expect(proxy.open).toBeGreaterThan(0));
  stop();
  await vi.waitFor(() => expect(proxy.open).toBe(0));
  expect(onError).not.toHaveBeenCalled();
});
