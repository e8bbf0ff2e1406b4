import type { Principal } from '@plant-store/core';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { callers } from './fixtures/callers.ts';
import { documentValidator } from './fixtures/document-validator.ts';
import { eventSurfaces, requestEvents } from './fixtures/event-surfaces.ts';
import { ownPostgres } from './fixtures/own-postgres.ts';
import { shareServer, startServer } from './fixtures/running-server.ts';
import type { Target } from './fixtures/surfaces.ts';

interface Changes {
  changes: { type: string; plant: { id: number; name: string } }[];
  next: string;
}

const own = ownPostgres();

const getFrom = ({ url, token }: Target, query = '', init: RequestInit = {}) =>
  fetch(`${url}/plants/changes${query}`, {
    headers: { authorization: `Bearer ${token}` },
    ...init,
  });

describe('GET /plants/changes', () => {
  const server = shareServer(() => ({ postgresUrl: own.postgresUrl }));
  let document: Awaited<ReturnType<typeof documentValidator>>;

  beforeAll(async () => {
    document = await documentValidator(server.url);
  });

  const get = (query = '', init: RequestInit = {}) => getFrom(server, query, init);

  /** Returns a page, and expects that the OpenAPI document describes the response. */
  async function read(response: Promise<Response>): Promise<Changes> {
    const { status, headers } = await response;
    const received = { status, headers, body: await (await response).text() };
    expect(document.operation('GET /plants/changes').differencesFrom(received)).toEqual([]);
    expect(status).toBe(200);
    return JSON.parse(received.body);
  }

  const present = async () => (await read(get())).next;
  const isWaiting = (count: number) =>
    vi.waitFor(() => expect(server.store.feed().waiting).toBe(count));
  const idsIn = ({ changes }: Changes) => changes.map(({ plant }) => plant.id);

  it('returns the changes after a cursor in pages', async () => {
    const start = await present();
    for (const id of [1n, 2n, 3n]) await server.store.create({ id, name: 'x', tag: 'y' });
    const page = await read(get(`?after=${start}&limit=2`));
    expect(idsIn(page)).toEqual([1, 2]);
    expect(page.changes[0]).toEqual({
      type: 'created',
      plant: { id: 1, name: 'x', tag: 'y', createdAt: expect.any(String) },
    });
    const rest = await read(get(`?after=${page.next}`));
    expect(idsIn(rest)).toEqual([3]);
    await server.store.delete(3n);
    const { changes } = await read(get(`?after=${rest.next}`));
    expect(changes).toMatchObject([{ type: 'deleted', plant: { id: 3, name: 'x', tag: 'y' } }]);
  });

  it.each(callers)('waits for a change over $name', async ({ name, call }) => {
    const page = call(server, 'listPlantChanges', { after: await present(), wait: 20 });
    await isWaiting(1);
    await server.store.create({ id: name === 'REST' ? 10n : 12n, name });
    expect(await page).toMatchObject({
      output: { changes: [{ type: 'created', plant: { name } }] },
    });
  });

  it('returns a valid cursor after a wait without changes', async () => {
    const after = await present();
    const { changes, next } = await read(get(`?after=${after}&wait=1`));
    expect(changes).toEqual([]);
    await server.store.create({ id: 11n, name: 'x' });
    expect(idsIn(await read(get(`?after=${next}`)))).toEqual([11]);
  });

  it('responds with 401 when the token is revoked during the wait', async () => {
    const token = await server.store.accessTokens.create('waits');
    const response = getFrom({ ...server, token }, `?after=${await present()}&wait=20`);
    await isWaiting(1);
    await server.store.accessTokens.revoke('waits');
    await server.store.create({ id: 14n, name: 'secret' });
    expect((await response).status).toBe(401);
    expect(await (await response).json()).toMatchObject({ error: 40101 });
  });

  it('stops counting a client as waiting when the client disconnects', async () => {
    const client = new AbortController();
    const after = await present();
    const requests = Array.from({ length: 5 }, () =>
      get(`?after=${after}&wait=20`, { signal: client.signal }).catch(() => {}),
    );
    await isWaiting(5);
    client.abort();
    await Promise.all(requests);
    await isWaiting(0);
  });

  it('responds to other requests while a thousand requests wait for a change', async () => {
    const after = await present();
    const requests = Array.from({ length: 1_000 }, () => get(`?after=${after}&wait=20`));
    await isWaiting(1_000);
    for (const path of ['/plants', '/plants/1', '/readyz']) {
      const headers = { authorization: `Bearer ${server.token}` };
      expect((await fetch(server.url + path, { headers })).status).toBe(200);
    }
    await server.store.create({ id: 15n, name: 'x' });
    const texts = await Promise.all(requests.map(async (request) => (await request).text()));
    expect(new Set(texts).size).toBe(1);
    expect(idsIn(JSON.parse(texts[0] ?? ''))).toEqual([15]);
  });
});

it('while half of the connections wait for changes, rejects a further request that would wait', async () => {
  const server = await startServer({ maxConnections: 6 });
  const { next } = await server.store.changes({});
  const wait = () => getFrom(server, `?after=${next}&wait=20`);
  const waiting = [wait(), wait(), wait()];
  await vi.waitFor(() => expect(server.store.feed().waiting).toBe(3));
  const rejected = await wait();
  expect(rejected.status).toBe(503);
  expect(await rejected.json()).toMatchObject({ error: 50301 });
  for (const surface of eventSurfaces) {
    const events = await requestEvents(surface, server);
    expect([events.status, surface.errorIn(await events.json())]).toEqual([503, 50301]);
  }
  expect((await getFrom(server)).status).toBe(200);
  await server.store.create({ id: 1n, name: 'x' });
  for (const response of await Promise.all(waiting)) expect(response.status).toBe(200);
  expect((await wait()).status).toBe(200);
  await server.stop();
});

it('a request whose client has already disconnected does not count as a waiting request', async () => {
  const lookUp = Promise.withResolvers<Principal>();
  const authenticate = vi.fn(() => lookUp.promise);
  const server = await startServer({ maxConnections: 6, authenticate });
  const { next } = await server.store.changes({});
  const get = (wait: number, init = {}) => getFrom(server, `?after=${next}&wait=${wait}`, init);
  const clients = new AbortController();
  const requests = [1, 2, 3].map(() => get(20, { signal: clients.signal }).catch(() => {}));
  await vi.waitFor(() => expect(authenticate).toHaveBeenCalledTimes(3));
  clients.abort();
  await Promise.all(requests);
  await vi.waitFor(async () => expect(await server.connections()).toBe(0));
  lookUp.resolve({ name: 'tester', scopes: ['plants:read'] });
  const statuses = (await Promise.all([1, 2, 3].map(() => get(1)))).map(({ status }) => status);
  expect(statuses).toEqual([200, 200, 200]);
  await server.stop();
});
