import { describe, expect, it, vi } from 'vitest';
import { readEvents } from '../fixtures/event-surfaces.ts';
import { ownPostgres } from '../fixtures/own-postgres.ts';
import { shareServer } from '../fixtures/running-server.ts';

const own = ownPostgres();
const server = shareServer(() => ({ postgresUrl: own.postgresUrl }));

const get = (query = '', headers: Record<string, string> = {}) =>
  fetch(`${server.url}/plants/changes${query}`, {
    headers: {
      authorization: `Bearer ${server.token}`,
      accept: 'text/event-stream',
      ...headers,
    },
  });

const end = async () => (await server.store.changes({})).next;

interface Event {
  event: string;
  id: string;
  data: string;
}

/** Returns the events of a text, without an incomplete event at the end. */
function eventsIn(text: string): Event[] {
  const [retry, ...blocks] = text.split('\n\n').slice(0, -1);
  expect(retry).toMatch(/^retry: \d+$/);
  return blocks.map((block) => Object.fromEntries(block.split('\n').map(fieldOf)));
}

const fieldOf = (line: string) => line.split(/: (.*)/s);

it('sends an event for each change, with a cursor and with the plant in the format of the list', async () => {
  const after = await end();
  const stream = await get(`?after=${after}`);
  let events: Event[] = [];
  const ended = readEvents(stream, (text) => {
    events = eventsIn(text);
    return events.length === 3;
  });
  const id = 9_223_372_036_854_775_807n;
  await server.store.create({ id, name: 'Monstera\r\n\ndata: 🪴\u2028"', tag: 'Araceae' });
  await server.store.create({ id: -9_007_199_254_740_993n, name: 'Hoya' });
  await vi.waitFor(() => expect(events).toHaveLength(2));
  const list = await (await get(`?after=${after}`, { accept: 'application/json' })).text();
  await server.store.delete(id);
  await ended;
  expect(events.map(({ event }) => event)).toEqual(['created', 'created', 'deleted']);
  const [first, second, third] = events;
  const json = [first, second].map((each) => `{"type":"created","plant":${each?.data}}`);
  expect(list).toBe(`{"changes":[${json}],"next":"${second?.id}"}`);
  expect(list).toContain(`"id":${id},`);
  expect(third?.data).toBe(first?.data);
});

it('resumes after the last event of the client, even between two changes of one transaction', async () => {
  const after = await end();
  await server.store.createMany([1n, 2n, 3n, 4n].map((id) => ({ id, name: `plant ${id}` })));
  const read = async (count: number, query: string, headers = {}) => {
    const stream = await get(query, headers);
    return eventsIn(await readEvents(stream, (text) => eventsIn(text).length >= count));
  };
  const events = await read(4, `?after=${after}`);
  for (const [i, { id }] of events.slice(0, 3).entries())
    expect(await read(1, '', { 'last-event-id': id })).toEqual(events.slice(i + 1));
});

it('for a request with a tag, sends only the changes of this tag, and then a cursor at the end of the feed', async () => {
  const after = await end();
  const read = (query: string) => get(query).then((stream) => readEvents(stream, isWhole));
  const isWhole = (text: string) => text.includes('event: deleted');
  await server.store.create({ id: 11n, name: 'Hoya', tag: 'a"b' });
  await server.store.create({ id: 12n, name: 'a"b' });
  await server.store.delete(11n);
  const query = `?after=${after}&tag=a%22b`;
  const events = eventsIn(await read(query)).filter(({ event }) => event !== undefined);
  expect(events.at(-1)?.event).toBe('deleted');
  for (const { data } of events) expect(data).toContain('"id":11,');
  const list = Object(await (await get(query, { accept: 'application/json' })).json());
  expect(list.next).toBe(await end());
  expect(list.changes).toMatchObject([{ type: 'deleted', plant: { tag: 'a"b' } }]);
  const other = await (await get(`${query}c`, { accept: 'application/json' })).json();
  expect(other).toEqual({ changes: [], next: list.next });
});

it.each(['x', 'x'.repeat(300)])(
  'names the header Last-Event-ID when its cursor %s is invalid',
  async (id) => {
    const response = await get('', { 'last-event-id': id });
    expect([response.status, await response.json()]).toEqual([
      400,
      { error: 40001, message: 'invalid input: Last-Event-ID must be the `next` of a response' },
    ]);
  },
);

it('first sends a cursor to a client that has no cursor, so that the client can resume', async () => {
  const text = await readEvents(await get(), (each) => /\nid: .*\n\n$/.test(each));
  const [, id] = /^retry: \d+\n\nid: (\S+)\n\n$/.exec(text) ?? [];
  expect(id).toBe(await end());
});

describe('negotiation', () => {
  it.each([
    ['text/event-stream', true],
    ['TEXT/Event-Stream', true],
    ['text/event-stream, */*;q=0.1', true],
    ['application/json;q=0.5, text/event-stream;q=0.6', true],
    ['text/event-stream, application/json', false],
    ['application/json, text/event-stream;q=0.9', false],
    ['text/event-stream;q=0', false],
    ['text/*', false],
    ['*/*', false],
    ['', false],
  ])('chooses between JSON and events for Accept: %s', async (accept, isStream) => {
    const response = await get('', { accept });
    await response.body?.cancel();
    const type = isStream ? 'text/event-stream' : 'application/json';
    expect([response.status, response.headers.get('content-type')]).toEqual([200, type]);
  });
});
