import { once } from 'node:events';
import { createDatabase, runSql, startFaultProxy } from '@plant-store/test-setup';
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { tokenWith } from '../fixtures/access.ts';
import { callers } from '../fixtures/callers.ts';
import {
  eventSurfaces,
  followEvents,
  readEvents,
  requestEvents,
} from '../fixtures/event-surfaces.ts';
import { bearer, openSocket, rawRequest } from '../fixtures/raw-request.ts';
import { shareServerOnOwnPostgres, startForTest, type Target } from '../fixtures/server.ts';
import { get } from '../fixtures/surfaces.ts';

const server = shareServerOnOwnPostgres();
const [rest] = callers;
let lastId = 0;
const create = async (target: Target = server, name = 'x') => {
  const id = ++lastId;
  await rest.call(target, 'createPlant', { id, name });
  return String(id);
};
const remove = (id: string) => rest.call(server, 'deletePlant', { id });
const end = async (target: Target = server) =>
  String(Object((await rest.call(target, 'listPlantChanges', {})).output).next);

/** A cursor of another database. */
const otherCursor = Buffer.from('0123456789abcdef 1').toString('base64url');

describe.each(eventSurfaces)('a stream of events over $name', (surface) => {
  const { queryAfter, changesIn, errorIn } = surface;
  const hasChange = (text: string) => changesIn(text).length > 0;
  const send = (query = '', init: Parameters<typeof requestEvents>[3] = {}) =>
    requestEvents(surface, server, query, init);
  const rawGet = (more: readonly string[] = []) => {
    const headers = Object.entries(surface.headers).map(([name, value]) => `${name}: ${value}`);
    return rawRequest(`GET ${surface.path}`, [bearer(server.token), ...headers, ...more]);
  };

  it('has the changes after a cursor, and then each new change', async () => {
    const after = await end();
    const first = await create();
    const { changes } = await followEvents(surface, server, queryAfter(after));
    await vi.waitFor(() => expect(changes()).toEqual([['created', first]]));
    await rest.call(server, 'replacePlant', { id: first, name: 'y' });
    await vi.waitFor(() => expect(changes()).toHaveLength(2));
    await remove(first);
    const second = await create();
    await vi.waitFor(() =>
      expect(changes()).toEqual([
        ['created', first],
        ['updated', first],
        ['deleted', first],
        ['created', second],
      ]),
    );
  });

  it('begins with a cursor at the end of the feed when the client has none', async () => {
    await create();
    const { changes, received } = await followEvents(surface, server);
    await vi.waitFor(() => expect(received()).toMatch(/^id: \S+$/m));
    const id = await create();
    await vi.waitFor(() => expect(changes()).toEqual([['created', id]]));
  });

  it('resumes after the last event that the client received', async () => {
    const start = await end();
    await create();
    const last = await end();
    const id = await create();
    for (const [query, headers] of [
      [queryAfter(start), { 'last-event-id': last }],
      [`${queryAfter(start)}&lastEventId=${start}`, { 'last-event-id': last }],
      [`${queryAfter(start)}&lastEventId=${last}`, { 'last-event-id': '' }],
      [queryAfter(last), {}],
      [queryAfter(last), { 'last-event-id': '' }],
    ] as const) {
      const text = await readEvents(await send(query, { headers }), hasChange);
      expect(changesIn(text)).toEqual([['created', id]]);
    }
  });

  it('is not to be buffered, changed or compressed', async () => {
    const response = await send('', { headers: { 'accept-encoding': 'gzip, br' } });
    await response.body?.cancel();
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect(response.headers.get('cache-control')).toContain('no-transform');
    expect(response.headers.get('x-accel-buffering')).toBe('no');
    expect(response.headers.has('content-encoding')).toBe(false);
    const head = await send('', { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  it('responds with an error status to an invalid request, and starts no stream', async () => {
    const creator = await tokenWith(server, ['plants:create']);
    const cases: [number, string, Record<string, string>?][] = [
      [40100, '', { authorization: '' }],
      [40101, '', { authorization: 'Bearer unknown' }],
      [40300, '', { authorization: `Bearer ${creator}` }],
      [40001, '?more=1'],
      [40001, queryAfter('x')],
      [40001, surface.queryOf({ tag: 'x' })],
      [40001, surface.queryOf({ only: 'created' })],
      [40001, '', { 'last-event-id': 'x' }],
      [40001, '', { 'last-event-id': 'x'.repeat(10_000) }],
      [41000, queryAfter(otherCursor)],
      [41000, '', { 'last-event-id': otherCursor }],
    ];
    for (const [code, query, headers = {}] of cases) {
      const response = await send(query, { headers });
      const status = Math.floor(code / 100);
      expect([response.status, errorIn(await response.json())]).toEqual([status, code]);
      expect(response.headers.get('content-type')).toBe('application/json');
    }
  });

  it('does not begin when a client sends the header Last-Event-ID twice', async () => {
    const next = await end();
    const socket = openSocket(server.url);
    onTestFinished(() => void socket.destroy());
    socket.write(rawGet([`Last-Event-ID: ${next}`, `Last-Event-ID: ${next}`]));
    const [bytes] = await once(socket, 'data');
    expect(String(bytes)).toMatch(/^HTTP\/1.1 400 /);
  });

  it('ends when the token is revoked, and sends no later change', async () => {
    const token = await tokenWith(server, ['plants:read']);
    const { output } = await rest.call({ ...server, token }, 'whoAmI', {});
    const { text } = await followEvents(surface, { ...server, token });
    await rest.call(server, 'revokeAccessToken', { id: Object(output).tokenId });
    await create(server, 'secret');
    expect(await text).not.toContain('secret');
  });

  it('ends when the cursor expires, and the next request gets 41000', async () => {
    const own = await startForTest();
    const after = await end(own);
    await create(own);
    const { text, changes } = await followEvents(surface, own, queryAfter(after));
    await vi.waitFor(() => expect(changes()).toHaveLength(1));
    // A table that was emptied begins a new feed.
    await runSql(own.databaseUrl, 'truncate plants, plant_deletions');
    await text;
    const again = await requestEvents(surface, own, queryAfter(after));
    expect([again.status, errorIn(await again.json())]).toEqual([410, 41000]);
  });

  it('begins while the database is down, and sends the changes when it is up again', async () => {
    const proxy = await startFaultProxy(await createDatabase(inject('postgresUrl')));
    onTestFinished(() => proxy.close());
    const distant = await startForTest({}, { databaseUrl: proxy.url });
    const after = await end(distant);
    const id = await create(distant);
    proxy.fault = 'refuse';
    const events = await requestEvents(surface, distant, queryAfter(after));
    expect(events.status).toBe(200);
    proxy.fault = 'none';
    expect(changesIn(await readEvents(events, hasChange))).toEqual([['created', id]]);
  });

  it('sends a change of 1 MiB to twenty clients', async () => {
    const own = await startForTest();
    const streams = await Promise.all(Array.from({ length: 20 }, () => followEvents(surface, own)));
    const id = await create(own, 'x'.repeat(2 ** 20 - 1_000));
    for (const { changes } of streams) {
      await vi.waitFor(() => expect(changes()).toEqual([['created', id]]));
    }
  });
});

describe('the events of GET /plants/changes', () => {
  interface Event {
    event: string;
    id: string;
    data: string;
  }

  const request = (query = '', headers: Record<string, string> = {}) =>
    get(server, `/plants/changes${query}`, { accept: 'text/event-stream', ...headers });

  /** Returns the complete events of a text that have data. */
  const eventsIn = (text: string): Event[] =>
    text
      .split('\n\n')
      .slice(0, -1)
      .map((block) => Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s))))
      .filter(({ data }) => data !== undefined);

  it('have the plant as the list has it, and resume after any event', async () => {
    const after = await end();
    const id = 9_223_372_036_854_775_807n;
    const name = 'Monstera\r\n\ndata: 🪴\u2028"';
    await rest.call(server, 'createPlants', {
      plants: [
        { id: -9_007_199_254_740_993n, name: 'Hoya' },
        { id, name, tag: 'Araceae' },
      ],
    });
    const list = await (await get(server, `/plants/changes?after=${after}`)).text();
    await rest.call(server, 'deletePlant', { id });
    const read = async (count: number, query: string, headers = {}) =>
      eventsIn(
        await readEvents(await request(query, headers), (text) => eventsIn(text).length >= count),
      );
    // The plant that was created and deleted may appear as deleted alone.
    const events = await read(2, `?after=${after}`);
    expect(events.at(-1)?.event).toBe('deleted');
    expect(list).toContain(`{"type":"created","plant":${events.at(-1)?.data}}`);
    expect(events[0]?.data).toContain('"id":-9007199254740993,');
    for (const [i, { id }] of events.slice(0, -1).entries()) {
      expect(await read(1, '', { 'last-event-id': id })).toEqual(events.slice(i + 1));
    }
  });

  it.each([
    ['text/event-stream', true],
    ['TEXT/Event-Stream', true],
    ['text/event-stream, */*;q=0.1', true],
    ['application/json;q=0.5, text/event-stream;q=0.6', true],
    ['application/json, text/event-stream;q=0.9', false],
    ['text/event-stream;q=0', false],
    ['*/*', false],
    ['', false],
  ])('are chosen in place of JSON by Accept: %s (%s)', async (accept, isStream) => {
    const response = await request('', { accept });
    await response.body?.cancel();
    expect(response.status).toBe(200);
    const type = response.headers.get('content-type') ?? '';
    expect(type.startsWith('text/event-stream')).toBe(isStream);
  });
});

it('a subscription in a batch or as a mutation is an error', async () => {
  const batch = await get(server, '/trpc/whoAmI,plantChanges?batch=1&input={}');
  expect(await batch.text()).toContain('"error":40002');
  const mutation = await fetch(`${server.url}/trpc/plantChanges`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
    body: '{}',
  });
  expect([mutation.status, await mutation.text()]).toEqual([405, expect.stringContaining('40500')]);
});
