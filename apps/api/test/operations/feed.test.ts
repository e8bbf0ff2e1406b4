import { describe, expect, it, vi } from 'vitest';
import {
  eventSurfaces,
  followEvents,
  readEvents,
  requestEvents,
} from '../fixtures/event-surfaces.ts';
import { shareServerOnOwnPostgres } from '../fixtures/server.ts';
import { errorIn, get, post, rest, surfaces, tokenWith } from '../fixtures/surfaces.ts';

const server = shareServerOnOwnPostgres();
let lastId = 0n;

/** Creates a plant. Tries again, because the server rejects writes after a pause on a busy machine. */
async function create(name = 'x') {
  const plant = { id: ++lastId, name, tag: 'y' };
  await vi.waitFor(async () =>
    expect(await rest.call(server, 'createPlant', plant)).toHaveProperty('output'),
  );
  return lastId;
}

/** Returns the cursor at the end of the feed. */
const end = async () => String(Object((await rest.call(server, 'listPlantChanges')).output).next);

/** Creates a token that can read plants. Returns the token, and a function that revokes the token. */
async function revocableToken() {
  const token = await tokenWith(server, ['plants:read']);
  const { output } = await rest.call({ ...server, token }, 'whoAmI');
  const revoke = () => rest.call(server, 'revokeAccessToken', { id: Object(output).tokenId });
  return { token, revoke };
}

/** A cursor of another database. */
const otherCursor = Buffer.from('0123456789abcdef 1').toString('base64url');

describe.each(surfaces)('listPlantChanges over $name', ({ call }) => {
  const read = async (input: Record<string, unknown>) =>
    Object((await call(server, 'listPlantChanges', input)).output);

  it('begins at the end of the feed', async () => {
    const { output } = await call(server, 'listPlantChanges');
    expect(output).toEqual({ changes: [], next: expect.any(String) });
  });

  it('returns pages of the changes after a cursor, and each change has its plant', async () => {
    const after = await end();
    const [first, second] = [await create(), await create()];
    await call(server, 'replacePlant', { id: first, name: 'new' });
    await call(server, 'deletePlant', { id: second });
    const [createdAt, updatedAt] = [expect.any(Date), expect.any(Date)];
    const updated = { type: 'updated', plant: { id: first, name: 'new', createdAt, updatedAt } };
    const gone = { type: 'deleted', plant: { id: second, name: 'x', tag: 'y', createdAt } };
    const [pages, latest] = [[{ changes: [], next: after }], new Map()];
    const readPage = async () => {
      const page = await read({ after: pages.at(-1)?.next, limit: 1 });
      pages.push(page);
      for (const change of page.changes) latest.set(change.plant.id, change);
      return [latest.get(first), latest.get(second)];
    };
    // A page that the server read between two writes also has earlier changes of a plant.
    await expect.poll(readPage).toEqual([updated, gone]);
    expect(pages.filter(({ changes }) => changes.length > 1)).toEqual([]);
  });

  it('waits for a change, and returns a valid cursor after a wait without changes', async () => {
    const empty = await read({ after: await end(), wait: 1 });
    expect(empty.changes).toEqual([]);
    const page = read({ after: empty.next, wait: 20 });
    const id = await create();
    expect((await page).changes).toMatchObject([{ type: 'created', plant: { id } }]);
  });

  it('sends no change to a client whose token is revoked during the wait', async () => {
    const { token, revoke } = await revocableToken();
    const input = { after: await end(), wait: 20 };
    const waiting = call({ ...server, token }, 'listPlantChanges', input);
    await revoke();
    await create();
    expect(await waiting).toMatchObject({ status: 401, error: 40101 });
  });

  it('responds with 41000 to a cursor of another database', async () => {
    const outcome = await call(server, 'listPlantChanges', { after: otherCursor });
    expect(outcome).toMatchObject({ status: 410, error: 41000 });
  });
});

it('lets a thousand requests wait, rejects one more, and responds to other requests', async () => {
  const path = `/plants/changes?after=${await end()}&wait=20`;
  const waiting = Array.from({ length: 1_001 }, () => get(server, path));
  const rejected = await Promise.race(waiting);
  expect(await rejected.json()).toMatchObject({ error: 50301 });
  expect(rejected.headers.get('retry-after')).toMatch(/^\d+$/);
  const id = await create();
  expect((await rest.call(server, 'getPlant', { id })).status).toBe(200);
  const others = (await Promise.all(waiting)).filter((response) => response !== rejected);
  const texts = await Promise.all(others.map((response) => response.text()));
  expect([...new Set(texts)]).toEqual([expect.stringContaining(`"id":${id},`)]);
});

describe.each(eventSurfaces)('a stream of events over $name', (surface) => {
  const { changesIn } = surface;
  const queryAfter = (after: string) => surface.queryOf({ after });
  const hasChange = (text: string) => changesIn(text).length > 0;
  const send = (query = '', init: Parameters<typeof requestEvents>[3] = {}) =>
    requestEvents(surface, server, query, init);

  it('sends the cursor at the end of the feed, and then each new change', async () => {
    await create();
    const { changes, received } = await followEvents(surface, server);
    await vi.waitFor(() => expect(received()).toMatch(/^id: \S+$/m));
    const first = await create();
    const expected = [['created', `${first}`]];
    await vi.waitFor(() => expect(changes()).toEqual(expected));
    await rest.call(server, 'replacePlant', { id: first, name: 'y' });
    await vi.waitFor(() => expect(changes()).toHaveLength(2));
    await rest.call(server, 'deletePlant', { id: first });
    expected.push(['updated', `${first}`], ['deleted', `${first}`], ['created', `${first + 1n}`]);
    await create();
    await vi.waitFor(() => expect(changes()).toEqual(expected));
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
      expect(changesIn(text)).toEqual([['created', `${id}`]]);
    }
  });

  it('resumes after any event, even when one statement caused several events', async () => {
    const plants = Array.from({ length: 4 }, () => ({ id: ++lastId, name: 'x' }));
    const after = await end();
    await vi.waitFor(async () =>
      expect(await rest.call(server, 'createPlants', { plants })).toHaveProperty('output'),
    );
    const changes = plants.map(({ id }) => ['created', `${id}`]);
    const isEnough = (text: string) =>
      text.endsWith('\n\n') && changesIn(text).at(-1)?.[1] === `${lastId}`;
    const read = async (cursor: string) => readEvents(await send(queryAfter(cursor)), isEnough);
    const text = await read(after);
    expect(changesIn(text)).toEqual(changes);
    const cursors = text.match(/(?<=^id: )\S+/gm) ?? [];
    for (const [i, cursor] of cursors.slice(0, -1).entries())
      expect(changesIn(await read(cursor))).toEqual(changes.slice(i + 1));
  });

  it('tells proxies not to buffer, change or compress the stream', async () => {
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

  it('does not start for an invalid request, which gets an error status', async () => {
    const creator = await tokenWith(server, ['plants:create']);
    const cases: [number, string, Record<string, string>?][] = [
      [40100, '', { authorization: '' }],
      [40101, '', { authorization: 'Bearer unknown' }],
      [40300, '', { authorization: `Bearer ${creator}` }],
      [40001, '?more=1'],
      [40001, queryAfter('x')],
      [40001, surface.queryOf({ only: 'created' })],
      [40001, '', { 'last-event-id': 'x' }],
      [40001, '', { 'last-event-id': 'x'.repeat(10_000) }],
      [41000, queryAfter(otherCursor)],
      [41000, '', { 'last-event-id': otherCursor }],
    ];
    for (const [code, query, headers = {}] of cases) {
      const response = await send(query, { headers });
      const { error } = errorIn(await response.json());
      expect([response.status, error]).toEqual([Math.floor(code / 100), code]);
      expect(response.headers.get('content-type')).toBe('application/json');
    }
  });

  it('ends when the token is revoked, and sends no later change', async () => {
    const { token, revoke } = await revocableToken();
    const { text } = await followEvents(surface, { ...server, token });
    await revoke();
    await create('secret');
    expect(await text).not.toContain('secret');
  });
});

describe('the events of GET /plants/changes', () => {
  const request = (query = '', headers: Record<string, string> = {}) =>
    get(server, `/plants/changes${query}`, { accept: 'text/event-stream', ...headers });

  it('contain the same JSON of a plant as the list of changes', async () => {
    const after = await end();
    const id = 9_223_372_036_854_775_807n;
    const name = 'Monstera\r\n\ndata: 🪴\u2028"';
    await rest.call(server, 'createPlant', { id, name, tag: 'Araceae' });
    const list = await (await get(server, `/plants/changes?after=${after}`)).text();
    const isWhole = (text: string) => /data: [^\n]+\n(id: \S+\n)?\n/.test(text);
    const events = await readEvents(await request(`?after=${after}`), isWhole);
    const [, event, plant] = /event: (\w+)\ndata: ([^\n]+)/.exec(events) ?? [];
    expect(list).toContain(`{"type":"${event}","plant":${plant}}`);
    expect(plant).toContain(`"id":${id},`);
  });

  it.each([
    ['text/event-stream', true],
    ['TEXT/Event-Stream', true],
    ['text/event-stream, */*;q=0.1', true],
    ['application/json, text/event-stream;q=0.9', false],
    ['*/*', false],
    ['', false],
  ])('are sent in place of JSON when Accept is "%s": %s', async (accept, isStream) => {
    const response = await request('', { accept });
    await response.body?.cancel();
    expect(response.status).toBe(200);
    const type = response.headers.get('content-type') ?? '';
    expect(type.startsWith('text/event-stream')).toBe(isStream);
  });
});

it('tRPC rejects a subscription in a batch or as a mutation', async () => {
  const batch = await get(server, '/trpc/whoAmI,plantChanges?batch=1&input={}');
  expect(await batch.text()).toContain('"error":40002');
  const mutation = await post(server, '/trpc/plantChanges', '{}');
  expect([mutation.status, await mutation.text()]).toEqual([405, expect.stringContaining('40500')]);
});
