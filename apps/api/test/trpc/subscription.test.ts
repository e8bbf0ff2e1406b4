import type { AppRouter } from '@plant-store/core/router';
import type { PlantChanges } from '@plant-store/schemas';
import { createTRPCClient, httpSubscriptionLink, type TRPCClientError } from '@trpc/client';
import superjson from 'superjson';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { TestEventSource } from '../fixtures/event-source.ts';
import { type RunningServer, startServer } from '../fixtures/running-server.ts';
import { databases } from '../fixtures/surfaces.ts';

describe.each(databases)('a subscription on %s', (database) => {
  let server: RunningServer;

  beforeAll(async () => {
    server = await startServer(database);
  });

  afterAll(() => server.stop());

  /** Subscribes with tRPC's own client, and collects what it gets. */
  function subscribe(input?: { after: string }, token = server.token) {
    const pages: PlantChanges[] = [];
    const states: string[] = [];
    const ended = Promise.withResolvers<TRPCClientError<AppRouter> | undefined>();
    const client = createTRPCClient<AppRouter>({
      links: [
        httpSubscriptionLink({
          url: `${server.url}/trpc`,
          transformer: superjson,
          EventSource: TestEventSource,
          eventSourceOptions: { headers: { authorization: `Bearer ${token}` } },
        }),
      ],
    });
    const { unsubscribe } = client.plantChanges.subscribe(input, {
      onData: ({ data }) => pages.push(data),
      onConnectionStateChange: ({ state }) => states.push(state),
      onError: ended.resolve,
      onComplete: () => ended.resolve(undefined),
    });
    onTestFinished(unsubscribe);
    return { pages, states, ended: ended.promise, unsubscribe };
  }

  const first = ({ pages }: { pages: PlantChanges[] }) =>
    vi.waitFor(() => {
      const [page] = pages;
      if (!page) throw new Error('there is no page yet');
      return page;
    });

  const changesIn = ({ pages }: { pages: PlantChanges[] }) =>
    pages.flatMap(({ changes }) => changes.map(({ type, plant }) => [type, plant.id]));

  it('sends the cursor of the present end, and then each change', async () => {
    const subscription = subscribe();
    expect(await first(subscription)).toEqual({ changes: [], next: expect.any(String) });
    await server.store.create({ id: 1n, name: 'Monstera', tag: 'Araceae' });
    await vi.waitFor(() => expect(changesIn(subscription)).toEqual([['created', 1n]]));
    await server.store.delete(1n);
    const all = [
      ['created', 1n],
      ['deleted', 1n],
    ];
    await vi.waitFor(() => expect(changesIn(subscription)).toEqual(all));
    const [
      ,
      {
        changes: [created],
      } = { changes: [] },
    ] = subscription.pages;
    expect(created).toEqual({
      type: 'created',
      plant: { id: 1n, name: 'Monstera', tag: 'Araceae', createdAt: expect.any(Date) },
    });
  });
});
