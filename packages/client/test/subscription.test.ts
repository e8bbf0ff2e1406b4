import type { TRPCClientError } from '@trpc/client';
import { expect, it, onTestFinished, vi } from 'vitest';
import {
  type AppRouter,
  createPlantStoreClient,
  type PlantStoreClient,
  plantStoreError,
} from '../src/index.ts';
import { client, listen, startProxyTo, token, url, useServer } from './fixtures/server.ts';

useServer();

let lastId = 0n;

const create = () => client.createPlant.mutate({ id: ++lastId, name: `Plant ${lastId}` });

async function follow(store: PlantStoreClient, given?: string) {
  const changes: string[] = [];
  const ended: TRPCClientError<AppRouter>[] = [];
  const states: string[] = [];
  const after = given ?? (await client.listPlantChanges.query()).next;
  const { unsubscribe } = store.plantChanges.subscribe(
    { after },
    {
      onData: ({ data }) =>
        changes.push(...data.changes.map(({ type, plant }) => `${type} ${plant.id}`)),
      onError: (error) => ended.push(error),
      onConnectionStateChange: ({ state, error }) =>
        states.push(error ? `${state}: ${error.message}` : state),
    },
  );
  onTestFinished(unsubscribe);
  return {
    changes,
    states,
    errors: ended,
    received: (count: number) => vi.waitFor(() => expect(changes).toHaveLength(count)),
    error: () => vi.waitFor(() => plantStoreError(ended[0]) ?? expect.unreachable(String(ended))),
  };
}

it('a subscription gets each change once even after a lost connection, and asks for the token again', async () => {
  const proxy = await startProxyTo(url);
  const tokens = vi.fn(() => token);
  const feed = await follow(createPlantStoreClient({ url: proxy.url, token: tokens }));
  await vi.waitFor(() => expect(feed.states.at(-1)).toBe('pending'));
  await create();
  await feed.received(1);
  const before = tokens.mock.calls.length;
  proxy.fault = 'refuse';
  await create();
  await vi.waitFor(() => expect(tokens.mock.calls.length).toBeGreaterThan(before + 1));
  proxy.fault = 'none';
  await feed.received(2);
  await client.deletePlant.mutate({ id: lastId });
  await feed.received(3);
  const created = [lastId - 1n, lastId].map((id) => `created ${id}`);
  expect(feed.changes).toEqual([...created, `deleted ${lastId}`]);
});

it('a subscription connects again after a long silence, and continues after the last event', async () => {
  const addresses: string[] = [];
  const stub = await listen((request, response) => {
    addresses.push(decodeURIComponent(request.url ?? ''));
    response.setHeader('content-type', 'text/event-stream');
    response.write('event: connected\ndata: {"reconnectAfterInactivityMs":100}\n\n');
    response.write('data: {"json":{"changes":[],"next":"last"}}\nid: last\n\n');
  });
  await follow(createPlantStoreClient({ url: stub, token }), 'first');
  await vi.waitFor(() =>
    expect(addresses.at(-1)).toContain('{"after":"first","lastEventId":"last"}'),
  );
  expect(addresses[0]).toContain('{"after":"first"}');
});

it('a subscription reports an unknown token once, and does not connect again', async () => {
  const fetch = vi.fn(globalThis.fetch);
  const feed = await follow(createPlantStoreClient({ url, token: 'unknown', fetch }));
  expect(await feed.error()).toMatchObject({ code: 40101, kind: 'tokenInvalid' });
  expect(feed.errors).toHaveLength(1);
  expect(feed.states).toEqual(['connecting']);
  expect(fetch).toHaveBeenCalledOnce();
});

it('a subscription reports a wrong path in the URL of the store', async () => {
  const feed = await follow(createPlantStoreClient({ url: `${url}/wrong`, token }));
  expect(await feed.error()).toMatchObject({ code: 40400, kind: 'pathUnknown' });
});

it('a subscription reports an invalid cursor and an expired cursor', async () => {
  const invalid = await follow(client, 'no cursor');
  expect(await invalid.error()).toMatchObject({ code: 40001, kind: 'invalidInput' });
  const expired = await follow(client, btoa('0123456789abcdef 813').replaceAll('=', ''));
  expect(await expired.error()).toMatchObject({ code: 41000, kind: 'cursorExpired' });
});
