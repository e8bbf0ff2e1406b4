import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { openPlantStore } from '@plant-store/core';
import { createDatabase, runSql, startFaultProxy } from '@plant-store/test-setup';
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { eventSurfaces, readEvents, requestEvents } from './fixtures/event-surfaces.ts';
import { ownPostgres } from './fixtures/own-postgres.ts';
import { authorization, openSocket, rawRequest } from './fixtures/raw-request.ts';
import { shareServer, startServer, startServerOn } from './fixtures/running-server.ts';

const own = ownPostgres();

describe.each(eventSurfaces)('a stream of events over $name', (surface) => {
  const { path, queryAfter, changesIn, errorIn, errorEvent } = surface;
  const hasChange = (text: string) => changesIn(text).length > 0;
  const rawGet = (more: readonly string[] = []) => {
    const headers = Object.entries(surface.headers).map(([name, value]) => `${name}: ${value}`);
    return rawRequest(`GET ${path}`, [authorization, ...headers, ...more]);
  };

  describe('of one server', () => {
    const server = shareServer(() => ({ postgresUrl: own.postgresUrl }));
    const send = (query = '', init: Parameters<typeof requestEvents>[3] = {}) =>
      requestEvents(surface, server, query, init);
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

    it('begins with the first change after the request', async () => {
      await server.store.create({ id: 1n, name: 'x' });
      const events = await send();
      const text = readEvents(events, (each) => changesIn(each).length === 2);
      await vi.waitFor(() => expect(server.store.feed().waiting).toBe(1));
      await server.store.create({ id: 2n, name: 'x' });
      await server.store.delete(1n);
      expect(changesIn(await text)).toEqual([
        ['created', '2'],
        ['deleted', '1'],
      ]);
    });

    it('resumes after the last event that the client received', async () => {
      const { next } = await server.store.changes({});
      for (const id of [11n, 12n, 13n]) await server.store.create({ id, name: 'x' });
      const { next: last } = await server.store.changes({ after: next, limit: 2 });
      for (const [query, headers] of [
        [queryAfter(next), { 'last-event-id': last }],
        [`${queryAfter(next)}&lastEventId=${next}`, { 'last-event-id': last }],
        [`${queryAfter(next)}&lastEventId=${last}`, { 'last-event-id': '' }],
        [queryAfter(last), {}],
        [queryAfter(last), { 'last-event-id': '' }],
      ] as const) {
        const text = await readEvents(await send(query, { headers }), hasChange);
        expect(changesIn(text)).toEqual([['created', '13']]);
      }
    });

    it('tells proxies not to buffer, change or compress the events', async () => {
      const response = await send('', { headers: { 'accept-encoding': 'gzip, br' } });
      await response.body?.cancel();
      expect(response.status).toBe(200);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-type': 'text/event-stream',
        'cache-control': 'no-cache, no-transform',
        'x-accel-buffering': 'no',
        'x-request-id': expect.any(String),
      });
      expect(response.headers.has('content-encoding')).toBe(false);
      const head = await send('', { method: 'HEAD' });
      expect([head.status, await head.text()]).toEqual([200, '']);
      expect(head.headers.get('content-type')).toBe('text/event-stream');
    });

    it('works over HTTP/1.0', async () => {
      const socket = openSocket(server.url);
      onTestFinished(() => void socket.destroy());
      let text = '';
      socket.on('data', (bytes) => {
        text += bytes;
      });
      socket.write(rawGet().replace('HTTP/1.1', 'HTTP/1.0'));
      await vi.waitFor(() => expect(text).toContain('\nid: '));
      await server.store.create({ id: 21n, name: 'x' });
      await vi.waitFor(() => expect(changesIn(text)).toEqual([['created', '21']]));
      expect(text).not.toMatch(/transfer-encoding/i);
    });

    it('responds with an error status to an invalid request, and starts no stream', async () => {
      const creator = await server.store.accessTokens.create('creator', {
        scopes: ['plants:create'],
      });
      const otherDatabase = Buffer.from('0123456789abcdef 1').toString('base64url');
      const cases: [number, string, Record<string, string>?][] = [
        [40100, '', { authorization: '' }],
        [40101, '', bearer('unknown')],
        [40300, '', bearer(creator)],
        [40001, '?more=1'],
        [40001, queryAfter('x')],
        [40001, '', { 'last-event-id': 'x' }],
        [40001, '', { 'last-event-id': 'x'.repeat(10_000) }],
        [41000, queryAfter(otherDatabase)],
        [41000, '', { 'last-event-id': otherDatabase }],
      ];
      for (const [code, query, headers = {}] of cases) {
        const response = await send(query, { headers });
        const status = Math.floor(code / 100);
        expect([response.status, errorIn(await response.json())]).toEqual([status, code]);
        expect(response.headers.get('content-type')).toBe('application/json');
        const head = await send(query, { headers, method: 'HEAD' });
        expect([head.status, await head.text()]).toEqual([status, '']);
      }
      const lines = () => server.log.map((line) => JSON.parse(line));
      const line = { path, status: 410, errorCode: 41000, principal: 'tester' };
      await vi.waitFor(() => expect(lines()).toContainEqual(expect.objectContaining(line)));
    });

    it('does not begin when a client sends the header Last-Event-ID twice', async () => {
      const { next } = await server.store.changes({});
      const socket = openSocket(server.url);
      onTestFinished(() => void socket.destroy());
      socket.write(rawGet([`Last-Event-ID: ${next}`, `Last-Event-ID: ${next}`]));
      const [bytes] = await once(socket, 'data');
      expect(String(bytes)).toMatch(/^HTTP\/1.1 400 /);
    });

    it('ends when the token is revoked, and sends no later change', async () => {
      const { accessTokens } = server.store;
      const token = await accessTokens.create('subscriber');
      const events = await send('', { headers: bearer(token) });
      const text = readEvents(events);
      await vi.waitFor(() => expect(server.store.feed().waiting).toBe(1));
      await accessTokens.revoke('subscriber');
      await server.store.create({ id: 31n, name: 'secret' });
      expect(changesIn(await text)).toEqual([]);
      expect(await text).not.toContain('secret');
      expect(await text).toContain(errorEvent);
      expect((await send('', { headers: bearer(token) })).status).toBe(401);
    });

    it('ends immediately when the client disconnects, and the server logs one line', async () => {
      const requestId = `disconnects-over-${surface.name}`;
      const stream = await send('', { headers: { 'x-request-id': requestId } });
      await stream.body?.cancel();
      const lines = () => server.log.filter((line) => line.includes(requestId));
      await vi.waitFor(() => expect(lines()).toHaveLength(1));
      expect(JSON.parse(lines()[0] ?? '')).toMatchObject({ msg: 'request', status: 200 });
      await vi.waitFor(() => expect(server.store.feed().waiting).toBe(0));
    });
  });

  it('does not begin while the feed is switched off: the client gets the error 50100', async () => {
    const server = await startServer();
    await runSql(server.databaseUrl, 'delete from plant_feed');
    const events = await requestEvents(surface, server);
    expect([events.status, errorIn(await events.json())]).toEqual([501, 50100]);
    await server.stop();
  });

  it('ends when the cursor expires, and the next request gets 410', async () => {
    const server = await startServer();
    const { next } = await server.store.changes({});
    const connect = () => requestEvents(surface, server, queryAfter(next));
    const response = await connect();
    const text = response.text();
    await vi.waitFor(() => expect(server.store.feed().waiting).toBe(1));
    await runSql(server.databaseUrl, 'update plant_feed set epoch = gen_random_uuid()');
    expect([response.status, await text]).toEqual([200, expect.stringContaining(errorEvent)]);
    expect(changesIn(await text)).toEqual([]);
    const again = await connect();
    expect([again.status, errorIn(await again.json())]).toEqual([410, 41000]);
    await server.stop();
  });

  it('begins while the database is down, and sends the changes when the database is up', async () => {
    const proxy = await startFaultProxy(await createDatabase(inject('postgresUrl')));
    const store = await openPlantStore({ databaseUrl: proxy.url });
    const server = await startServerOn(store);
    const { next } = await store.changes({});
    await store.create({ id: 1n, name: 'x' });
    proxy.fault = 'refuse';
    const events = await requestEvents(surface, server, queryAfter(next));
    expect(events.status).toBe(200);
    proxy.fault = 'none';
    const text = await readEvents(events, hasChange);
    expect(changesIn(text)).toEqual([['created', '1']]);
    proxy.close();
    await server.stop();
    await store.close();
  });

  it('shares the memory of a page with all streams that send this page', async () => {
    const server = await startServer({ memoryBudget: 4 * 2 ** 20 });
    const events = await Promise.all(
      Array.from({ length: 20 }, () => requestEvents(surface, server)),
    );
    await vi.waitFor(() => expect(server.store.feed().waiting).toBe(20));
    const name = 'x'.repeat(2 ** 20 - 1_000);
    const texts = events.map((response) => readEvents(response, (text) => text.includes(name)));
    await server.store.create({ id: 1n, name });
    // The memory holds two pages. If each stream had its own page, most streams would end without the change.
    for (const text of await Promise.all(texts)) expect(text.includes(name)).toBe(true);
    await server.stop();
  });

  it('uses little memory for a client that reads nothing, and the server closes the connection', async () => {
    const opened = await startServer();
    const { next: after } = await opened.store.changes({});
    await opened.store.create({ id: 1n, name: 'x'.repeat(2 ** 20) });
    const { value: page } = await opened.store.follow({ after }).next();
    let pages = 0;
    const server = await startServerOn({
      ...opened.store,
      async *follow(): AsyncGenerator<typeof page, never> {
        for (;;) {
          pages++;
          yield page;
          await setImmediate();
        }
      },
    });
    const socket = openSocket(server.url).pause();
    onTestFinished(() => void socket.destroy());
    socket.write(rawGet());
    await vi.waitFor(() => expect(pages).toBeGreaterThan(0));
    const isBlocked = async () => {
      const before = pages;
      for (let turn = 0; turn < 100; turn++) await setImmediate();
      expect(pages).toBe(before);
    };
    await vi.waitFor(isBlocked);
    expect(pages).toBeLessThan(16); // The operating system buffers some MiB of the response.
    server.connectionsTimeOut();
    await vi.waitFor(async () => expect(await server.connections()).toBe(0));
    await server.stop();
    await opened.stop();
  });
});
