import type { Principal } from '@plant-store/core';
import type { AppRouter } from '@plant-store/core/router';
import { createTRPCClient, httpLink } from '@trpc/client';
import superjson from 'superjson';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { documentValidator } from './fixtures/document-validator.ts';
import { ownPostgres } from './fixtures/own-postgres.ts';
import { type RunningServer, startServer } from './fixtures/running-server.ts';

interface Changes {
  changes: { type: string; plant: { id: number; name: string } }[];
  next: string;
}

const postgresUrl = ownPostgres();

describe('GET /plants/changes', () => {
  let server: RunningServer;
  let document: Awaited<ReturnType<typeof documentValidator>>;

  beforeAll(async () => {
    const corsOrigins = ['https://app.example.com'];
    server = await startServer('Postgres', { corsOrigins, postgresUrl: postgresUrl() });
    document = await documentValidator(server.url);
  });

  afterAll(() => server.stop());

  const get = (query = '', init: RequestInit = {}, token = server.token) =>
    fetch(`${server.url}/plants/changes${query}`, {
      ...init,
      headers: { authorization: `Bearer ${token}`, ...Object(init.headers) },
    });

  /** Returns a page, which must be as the document says. */
  async function read(response: Promise<Response>): Promise<Changes> {
    const { status, headers, ...received } = await response;
    const body = await (await response).text();
    expect(
      document
        .operation('GET /plants/changes')
        .differencesFrom({ ...received, status, headers, body }),
    ).toEqual([]);
    expect(status).toBe(200);
    return JSON.parse(body);
  }

  const present = async () => (await read(get())).next;
  const isWaiting = (count: number) =>
    vi.waitFor(() => expect(server.store.feed().waiting).toBe(count));
  const idsIn = ({ changes }: Changes) => changes.map(({ plant }) => plant.id);

  it('returns the changes after a cursor, in pages', async () => {
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

  it('waits for a change', async () => {
    const after = await present();
    const page = read(get(`?after=${after}&wait=20`));
    await isWaiting(1);
    await server.store.create({ id: 10n, name: 'x' });
    expect(idsIn(await page)).toEqual([10]);
  });

  it('after a wait without changes, returns a valid cursor', async () => {
    const after = await present();
    const { changes, next } = await read(get(`?after=${after}&wait=1`));
    expect(changes).toEqual([]);
    await server.store.create({ id: 11n, name: 'x' });
    expect(idsIn(await read(get(`?after=${next}`)))).toEqual([11]);
  });

  it('waits for a change over tRPC', async () => {
    const client = createTRPCClient<AppRouter>({
      links: [
        httpLink({
          url: `${server.url}/trpc`,
          headers: { authorization: `Bearer ${server.token}` },
          transformer: superjson,
        }),
      ],
    });
    const { next } = await client.listPlantChanges.query();
    const page = client.listPlantChanges.query({ after: next, wait: 20 });
    await isWaiting(1);
    await server.store.create({ id: 12n, name: 'x' });
    expect((await page).changes).toMatchObject([{ type: 'created', plant: { id: 12n } }]);
  });

  it.each([
    'wait=21',
    'wait=-1',
    'wait=1.5',
    'wait=',
    'wait=1&wait=2',
    'limit=0',
    'more=1',
    'after=x',
  ])('rejects the query %s', async (query) => {
    const response = await get(`?${query}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: 40001 });
  });

  it('rejects a token that was revoked during the wait', async () => {
    const token = await server.store.accessTokens.create('waits');
    const response = get(`?after=${await present()}&wait=20`, {}, token);
    await isWaiting(1);
    await server.store.accessTokens.revoke('waits');
    await server.store.create({ id: 14n, name: 'secret' });
    expect((await response).status).toBe(401);
    expect(await (await response).json()).toMatchObject({ error: 40101 });
  });

  it('forgets clients that disconnect while they wait', async () => {
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

  it('keeps a thousand requests waiting, and responds to other requests meanwhile', async () => {
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

it('lets only half of the connections wait', async () => {
  const server = await startServer('Postgres', { maxConnections: 6 });
  const get = (query = '') =>
    fetch(`${server.url}/plants/changes${query}`, {
      headers: { authorization: `Bearer ${server.token}` },
    });
  const { next } = (await (await get()).json()) as Changes;
  const waiting = [1, 2, 3].map(() => get(`?after=${next}&wait=20`));
  await vi.waitFor(() => expect(server.store.feed().waiting).toBe(3));
  const rejected = await get(`?after=${next}&wait=20`);
  expect(rejected.status).toBe(503);
  expect(await rejected.json()).toMatchObject({ error: 50301 });
  const events = await fetch(`${server.url}/trpc/plantChanges`, {
    headers: { authorization: `Bearer ${server.token}` },
  });
  expect(events.status).toBe(503);
  expect((await get()).status).toBe(200);
  await server.store.create({ id: 1n, name: 'x' });
  for (const response of await Promise.all(waiting)) expect(response.status).toBe(200);
  const again = get(`?after=${next}&wait=20`);
  expect((await again).status).toBe(200);
  await server.stop();
});

it('does not count requests whose clients disconnect before they wait', async () => {
  const lookUp = Promise.withResolvers<Principal>();
  const authenticate = vi.fn(() => lookUp.promise);
  const server = await startServer('Postgres', { maxConnections: 6, authenticate });
  const { next } = await server.store.changes({});
  const get = (wait: number, init = {}) =>
    fetch(`${server.url}/plants/changes?after=${next}&wait=${wait}`, {
      headers: { authorization: 'Bearer x' },
      ...init,
    });
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
