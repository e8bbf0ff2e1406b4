import { createPlantStoreClient } from '@plant-store/client';
import type { AppRouter } from '@plant-store/core/router';
import type { PlantChanges } from '@plant-store/schemas';
import type { TRPCClientError } from '@trpc/client';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ownPostgres } from '../fixtures/own-postgres.ts';
import { shareServer } from '../fixtures/running-server.ts';

const own = ownPostgres();

describe('the server', () => {
  const server = shareServer(() => ({ postgresUrl: own.postgresUrl }));

  /** Subscribes with our client, and collects the pages. */
  function subscribe(input?: { after: string }, token = server.token) {
    const pages: PlantChanges[] = [];
    const ended = Promise.withResolvers<TRPCClientError<AppRouter> | undefined>();
    const client = createPlantStoreClient({ url: server.url, token });
    const { unsubscribe } = client.plantChanges.subscribe(input, {
      onData: ({ data }) => pages.push(data),
      onError: ended.resolve,
      onComplete: () => ended.resolve(undefined),
    });
    onTestFinished(unsubscribe);
    return { pages, ended: ended.promise };
  }

  const first = ({ pages }: { pages: PlantChanges[] }) =>
    vi.waitFor(() => {
      const [page] = pages;
      if (!page) throw new Error('there is no page yet');
      return page;
    });

  const changesIn = ({ pages }: { pages: PlantChanges[] }) =>
    pages.flatMap(({ changes }) => changes.map(({ type, plant }) => [type, plant.id]));

  it('sends a subscriber the cursor of the end of the feed, and then each change', async () => {
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
    const plant = { id: 1n, name: 'Monstera', tag: 'Araceae', createdAt: expect.any(Date) };
    expect(subscription.pages[1]?.changes[0]).toEqual({ type: 'created', plant });
  });

  const send = (method: string, query = '', headers = {}) =>
    fetch(`${server.url}/trpc/plantChanges${query}`, {
      method,
      headers: { authorization: `Bearer ${server.token}`, ...headers },
      ...(method === 'POST' && { body: '{}' }),
    });

  it('rejects an invalid subscription with the same error as another call', async () => {
    const scopes = ['plants:create'] as const;
    const creator = await server.store.accessTokens.create('creator', { scopes });
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
    const cases: [number, string, object?, string?][] = [
      [40101, '', bearer('unknown')],
      [40300, '', bearer(creator)],
      [40001, '?more=1'],
      [40001, '?input={"json":{"more":1}}'],
      [40001, '?input={"json":5}&lastEventId=x'],
      [40002, '?batch=1&input={}'],
      [40500, '', { 'content-type': 'application/json' }, 'POST'],
    ];
    for (const [code, query, headers, method = 'GET'] of cases) {
      const status = Math.floor(code / 100);
      const response = await send(method, query, headers);
      const { error } = (await response.json()) as ErrorEnvelope;
      expect([response.status, error.json.data]).toMatchObject([
        status,
        { error: code, httpStatus: status, path: 'plantChanges' },
      ]);
    }
    const batch = await fetch(`${server.url}/trpc/whoAmI,plantChanges?batch=1&input={}`, {
      headers: bearer(server.token),
    });
    expect(batch.status).toBe(207);
    expect(await batch.json()).toMatchObject([
      { result: {} },
      { error: { json: { data: { error: 40002 } } } },
    ]);
    const stream = await fetch(`${server.url}/trpc/whoAmI,plantChanges?batch=1&input={}`, {
      headers: { ...bearer(server.token), 'trpc-accept': 'application/jsonl' },
    });
    expect([stream.status, stream.headers.get('content-type')]).toEqual([400, 'application/json']);
    expect(await stream.json()).toMatchObject({ error: { json: { data: { error: 40002 } } } });
  });

  it.each([
    ['a text that is not a cursor', 40001, 400, 'x'],
    [
      'a cursor of another database',
      41000,
      410,
      Buffer.from('0123456789abcdef 1').toString('base64url'),
    ],
  ])('tells a client the error of %s', async (_what, error, httpStatus, after) => {
    const data = { error, httpStatus, path: 'plantChanges' };
    expect(await subscribe({ after }).ended).toMatchObject({ data });
  });
});

interface ErrorEnvelope {
  error: { json: { data: object } };
}
