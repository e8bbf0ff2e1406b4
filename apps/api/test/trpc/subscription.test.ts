import { setImmediate } from 'node:timers/promises';
import { createPlantStoreClient } from '@plant-store/client';
import { openPlantStore } from '@plant-store/core';
import type { AppRouter } from '@plant-store/core/router';
import type { PlantChanges } from '@plant-store/schemas';
import { createDatabase, startFaultProxy } from '@plant-store/test-setup';
import type { TRPCClientError } from '@trpc/client';
import postgres from 'postgres';
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { ownPostgres } from '../fixtures/own-postgres.ts';
import { authorization, openSocket, rawRequest } from '../fixtures/raw-request.ts';
import { shareServer, startServer, startServerOn } from '../fixtures/running-server.ts';

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

  it('resumes a subscription after the last event that the client received', async () => {
    const { next } = await server.store.changes({});
    for (const id of [11n, 12n, 13n]) await server.store.create({ id, name: 'x' });
    const subscription = subscribe({ after: next });
    await vi.waitFor(() => expect(changesIn(subscription)).toHaveLength(3));
    const { next: last } = await server.store.changes({ after: next, limit: 2 });
    const input = encodeURIComponent(JSON.stringify({ json: { after: next } }));
    for (const [query, headers] of [
      [`?input=${input}&lastEventId=${last}`, {}],
      [`?input=${input}&lastEventId=${next}`, { 'last-event-id': last }],
      [`?input=${encodeURIComponent(JSON.stringify({ json: { after: last } }))}&lastEventId=`, {}],
      [`?input=${input}&lastEventId=${last}`, { 'last-event-id': '' }],
    ] as const) {
      const events = await open(query, headers);
      expect(events).toContain('"id":"13"');
      expect(events).not.toContain('"id":"12"');
      expect(events).toMatch(/\nid: [\w-]+\n$/);
    }
  });

  /** Opens a stream, and returns its text up to the first page. */
  async function open(query = '', headers = {}): Promise<string> {
    const response = await send('GET', query, headers);
    let text = '';
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk;
      if (/\nid: .*\n\n/.test(text)) break;
    }
    return text.slice(0, -1);
  }

  const send = (method: string, query = '', headers = {}) =>
    fetch(`${server.url}/trpc/plantChanges${query}`, {
      method,
      headers: { authorization: `Bearer ${server.token}`, ...headers },
      ...(method === 'POST' && { body: '{}' }),
    });

  it('forbids proxies to collect, change or compress the stream of a subscription', async () => {
    const headers = { 'accept-encoding': 'gzip, br' };
    const response = await send('GET', '', headers);
    await response.body?.cancel();
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'x-request-id': expect.any(String),
    });
    expect(response.headers.has('content-encoding')).toBe(false);
    const head = await send('HEAD');
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect(head.headers.get('content-type')).toBe('text/event-stream');
  });

  it('keeps the stream of a subscription open over HTTP/1.0', async () => {
    const socket = openSocket(server.url);
    onTestFinished(() => void socket.destroy());
    let text = '';
    socket.on('data', (bytes) => {
      text += bytes;
    });
    socket.write(subscribeRequest.replace('HTTP/1.1', 'HTTP/1.0'));
    await vi.waitFor(() => expect(text).toContain('\nid: '));
    await server.store.create({ id: 21n, name: 'x' });
    await vi.waitFor(() => expect(text).toContain('"id":"21"'));
    expect(text).not.toMatch(/transfer-encoding/i);
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
  ])(
    'responds with the status of the error to %s, and logs the error',
    async (_what, error, httpStatus, after) => {
      const data = { error, httpStatus, path: 'plantChanges' };
      expect(await subscribe({ after }).ended).toMatchObject({ data });
      for (const method of ['GET', 'HEAD']) {
        const response = await send(method, '', { 'last-event-id': after });
        expect([response.status, response.headers.get('content-type')]).toEqual([
          httpStatus,
          'application/json',
        ]);
        await response.body?.cancel();
      }
      await vi.waitFor(() => {
        const lines = server.log.map((line) => JSON.parse(line));
        const path = '/trpc/plantChanges';
        expect(lines).toContainEqual(
          expect.objectContaining({
            path,
            status: httpStatus,
            errors: [error],
            principal: 'tester',
          }),
        );
      });
    },
  );

  it('ends a subscription without sending the next change when the token is revoked', async () => {
    const { accessTokens } = server.store;
    const token = await accessTokens.create('subscriber');
    const subscription = subscribe(undefined, token);
    await first(subscription);
    await accessTokens.revoke('subscriber');
    await server.store.create({ id: 31n, name: 'secret' });
    expect(await subscription.ended).toMatchObject({
      data: { error: 40101, httpStatus: 401, code: 'UNAUTHORIZED' },
    });
    expect(changesIn(subscription)).toEqual([]);
  });

  it('logs one line with the status 200 when a subscriber disconnects, and stops the feed', async () => {
    const requestId = 'subscriber-that-disconnects';
    const stream = await send('GET', '', { 'x-request-id': requestId });
    await stream.body?.cancel();
    const lines = () => server.log.filter((line) => line.includes(requestId));
    await vi.waitFor(() => expect(lines()).toHaveLength(1));
    expect(JSON.parse(lines()[0] ?? '')).toMatchObject({ msg: 'request', status: 200 });
    await vi.waitFor(() => expect(server.store.feed().waiting).toBe(0));
  });
});

const subscribeRequest = rawRequest('GET /trpc/plantChanges', [authorization]);

interface ErrorEnvelope {
  error: { json: { data: object } };
}

it('responds with 50100 to a subscriber while the feed is switched off', async () => {
  const server = await startServer('Postgres');
  const sql = postgres(server.databaseUrl ?? '', { max: 1 });
  await sql`delete from plant_feed`;
  await sql.end();
  const headers = { authorization: `Bearer ${server.token}` };
  const list = await fetch(`${server.url}/plants/changes`, { headers });
  expect([list.status, await list.json()]).toMatchObject([501, { error: 50100 }]);
  const events = await fetch(`${server.url}/trpc/plantChanges`, { headers });
  const error = { json: { data: { error: 50100 } } };
  expect([events.status, await events.json()]).toMatchObject([501, { error }]);
  await server.stop();
});

it('ends a subscription with an event when the cursor expires, and responds with 410 to the next request', async () => {
  const server = await startServer('Postgres');
  const { next: after } = await server.store.changes({});
  const headers = { authorization: `Bearer ${server.token}`, 'last-event-id': after };
  const connect = () => fetch(`${server.url}/trpc/plantChanges`, { headers });
  const response = await connect();
  const text = response.text();
  await vi.waitFor(() => expect(server.store.feed().waiting).toBe(1));
  const sql = postgres(server.databaseUrl ?? '', { max: 1 });
  await sql`update plant_feed set epoch = gen_random_uuid()`;
  await sql.end();
  expect([response.status, await text]).toEqual([
    200,
    expect.stringMatching(/\nevent: serialized-error\ndata: \{"json":\{.*"error":41000/),
  ]);
  const again = await connect();
  const error = { json: { data: { error: 41000 } } };
  expect([again.status, await again.json()]).toMatchObject([410, { error }]);
  await server.stop();
});

it('begins a subscription while the database is down, and sends the changes later', async () => {
  const proxy = await startFaultProxy(await createDatabase(inject('postgresUrl')));
  const store = await openPlantStore({ databaseUrl: proxy.url });
  const server = await startServerOn(store);
  const { next: after } = await store.changes({});
  await store.create({ id: 1n, name: 'x' });
  proxy.fault = 'refuse';
  const headers = { authorization: `Bearer ${server.token}`, 'last-event-id': after };
  const events = await fetch(`${server.url}/trpc/plantChanges`, { headers });
  expect(events.status).toBe(200);
  proxy.fault = 'none';
  let text = '';
  for await (const chunk of events.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    if (text.includes('"id":"1"')) break;
  }
  proxy.close();
  await server.stop();
  await store.close();
});

it('reads no further pages for a subscriber that reads nothing, and closes the connection', async () => {
  const opened = await startServer('Postgres');
  let pages = 0;
  async function* follow(): AsyncGenerator<PlantChanges, never> {
    for (;;) {
      const plant = { id: 1n, name: 'x'.repeat(2 ** 20), createdAt: new Date() };
      yield { changes: [{ type: 'created', plant }], next: String(++pages) };
      await setImmediate();
    }
  }
  const server = await startServerOn({ ...opened.store, follow });
  const socket = openSocket(server.url).pause();
  onTestFinished(() => void socket.destroy());
  socket.write(subscribeRequest);
  await vi.waitFor(() => expect(pages).toBeGreaterThan(0));
  const isBlocked = async () => {
    const before = pages;
    for (let turn = 0; turn < 100; turn++) await setImmediate();
    expect(pages).toBe(before);
  };
  await vi.waitFor(isBlocked, 10_000);
  expect(pages).toBeLessThan(16); // The buffers of the operating system hold some MiB.
  server.connectionsTimeOut();
  await vi.waitFor(async () => expect(await server.connections()).toBe(0));
  await server.stop();
  await opened.stop();
});
