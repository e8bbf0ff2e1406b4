import type { TRPCClientError } from '@trpc/client';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
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

const cursor = async () => (await client.listPlantChanges.query()).next;

async function follow(store: PlantStoreClient, after?: string) {
  const changes: string[] = [];
  const ended: TRPCClientError<AppRouter>[] = [];
  const states: string[] = [];
  const { unsubscribe } = store.plantChanges.subscribe(
    { after: after ?? (await cursor()) },
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
    connected: () => vi.waitFor(() => expect(states.at(-1)).toBe('pending')),
    received: (count: number) => vi.waitFor(() => expect(changes).toHaveLength(count)),
    error: () => vi.waitFor(() => plantStoreError(ended[0]) ?? expect.unreachable(String(ended))),
  };
}

describe('plantChanges', () => {
  it('sends the changes after a cursor, and then each new change', async () => {
    const after = await cursor();
    await create();
    const feed = await follow(client, after);
    await feed.received(1);
    await client.deletePlant.mutate({ id: lastId });
    await feed.received(2);
    expect(feed.changes).toEqual([`created ${lastId}`, `deleted ${lastId}`]);
  });

  it('sends each change once even after a lost connection, and asks for the token again', async () => {
    const proxy = await startProxyTo(url);
    const tokens = vi.fn(() => token);
    const feed = await follow(createPlantStoreClient({ url: proxy.url, token: tokens }));
    await feed.connected();
    await create();
    await feed.received(1);
    const before = tokens.mock.calls.length;
    proxy.fault = 'refuse';
    await create();
    await vi.waitFor(() => expect(tokens.mock.calls.length).toBeGreaterThan(before + 1));
    proxy.fault = 'none';
    await feed.received(2);
    await create();
    await feed.received(3);
    expect(feed.changes).toEqual([2n, 1n, 0n].map((back) => `created ${lastId - back}`));
  });

  it('connects again when the connection is silent for too long, and continues after the last event', async () => {
    const addresses: string[] = [];
    const stub = await listen((request, response) => {
      addresses.push(decodeURIComponent(request.url ?? ''));
      response.setHeader('content-type', 'text/event-stream');
      response.write('event: connected\ndata: {"reconnectAfterInactivityMs":100}\n\n');
      response.write('data: {"json":{"changes":[],"next":"last"}}\nid: last\n\n');
    });
    const store = createPlantStoreClient({ url: stub, token });
    await follow(store, 'first');
    await vi.waitFor(() =>
      expect(addresses.at(-1)).toContain('{"after":"first","lastEventId":"last"}'),
    );
    expect(addresses[0]).toContain('{"after":"first"}');
  });
});

describe('the error of plantChanges', () => {
  const errorOf = async (store: PlantStoreClient, after?: string) =>
    (await follow(store, after)).error();

  it('reports an unknown token once, and does not connect again', async () => {
    const fetch = vi.fn(globalThis.fetch);
    const stranger = createPlantStoreClient({ url, token: 'unknown', fetch });
    const feed = await follow(stranger, await cursor());
    expect(await feed.error()).toMatchObject({ code: 40101, kind: 'tokenInvalid' });
    expect(feed.errors).toEqual([expect.objectContaining({ data: expect.anything() })]);
    expect(feed.states).toEqual(['connecting']);
    expect(fetch).toHaveBeenCalledOnce();
  });

  it('says that the cursor is invalid or has expired', async () => {
    expect(await errorOf(client, 'no cursor')).toMatchObject({ code: 40001, kind: 'invalidInput' });
    const ofAnotherDatabase = btoa('0123456789abcdef 813').replaceAll('=', '');
    expect(await errorOf(client, ofAnotherDatabase)).toMatchObject({
      code: 41000,
      kind: 'cursorExpired',
    });
  });
});
