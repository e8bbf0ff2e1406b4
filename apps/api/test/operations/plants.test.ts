import { beforeAll, describe, expect, it } from 'vitest';
import { shareServer } from '../fixtures/server.ts';
import { get, post, request, rest, surfaces } from '../fixtures/surfaces.ts';

const server = shareServer();
let lastId = 10_000n;
const freeId = () => ++lastId;

const ids = [-(2n ** 63n), -9007199254740993n, -5n, 0n, 7n, 9007199254740993n, 2n ** 63n - 1n];

beforeAll(async () => {
  const plants = ids.map((id) => ({ id, name: `Plant ${id}`, tag: '🌻 100%s' }));
  await rest.call(server, 'createPlants', { plants });
});

interface Page {
  plants: { id: bigint; name: string; tag?: string; createdAt: Date }[];
  next?: string;
}

describe.each(surfaces)('over $name', ({ name: surface, call }) => {
  const create = async (plant: object) => {
    const id = freeId();
    await call(server, 'createPlant', { id, name: 'Hoya', ...plant });
    return id;
  };
  const getPlant = (id: bigint) => call(server, 'getPlant', { id });
  const list = async (query: Record<string, unknown> = {}) =>
    (await call(server, 'listPlants', query)).output as Page;
  const idsOf = ({ plants }: Page) => plants.map(({ id }) => id);

  it.each(ids)('getPlant returns the plant %s', async (id) => {
    const createdAt = expect.any(Date);
    const expected = { id, name: `Plant ${id}`, tag: '🌻 100%s', createdAt };
    const { status, output } = await getPlant(id);
    expect([status, output]).toMatchObject([200, expected]);
    expect(output).not.toHaveProperty('updatedAt');
    expect((await getPlant(await create({}))).output).not.toHaveProperty('tag');
  });

  it.each(['getPlant', 'deletePlant', 'replacePlant'] as const)(
    '%s responds with 40401 when there is no plant, and creates none',
    async (procedure) => {
      const id = 2n ** 63n - 2n;
      const name = procedure === 'replacePlant' && { name: 'Hoya' };
      const outcome = await call(server, procedure, { id, ...name });
      expect(outcome).toMatchObject({ status: 404, error: 40401 });
      expect(outcome.message).toContain(String(id));
      expect((await getPlant(id)).error).toBe(40401);
    },
  );

  it('listPlants returns pages in the order of the ids, of which the last has no `next`', async () => {
    const first = await list({ tag: '🌻 100%s', limit: 2 });
    expect(first).toEqual({
      plants: ids.slice(0, 2).map((id) => ({
        ...{ id, name: `Plant ${id}`, tag: '🌻 100%s' },
        createdAt: expect.any(Date),
      })),
      next: '-9007199254740993',
    });
    const second = await list({ tag: '🌻 100%s', limit: 3, after: first.next });
    expect(idsOf(second)).toEqual(ids.slice(2, 5));
    const last = await list({ tag: '🌻 100%s', after: second.next });
    expect([idsOf(last), 'next' in last]).toEqual([ids.slice(5), false]);
    expect(await list({ tag: 'of no plant' })).toEqual({ plants: [] });
  });

  it('listPlants begins after any id, even one that no plant has', async () => {
    for (const [after, id] of [
      [8n, 9007199254740993n],
      ['-9007199254740993', -5n],
      ['-4', 0n],
    ]) {
      expect(idsOf(await list({ after, limit: 1, tag: '🌻 100%s' }))).toEqual([id]);
    }
  });

  it('listPlants returns 100 plants unless the input has a limit', async () => {
    const plants = Array.from({ length: 101 }, () => ({ id: freeId(), name: 'x', tag: surface }));
    await call(server, 'createPlants', { plants });
    expect((await list({ tag: surface })).plants).toHaveLength(100);
    expect((await list({ tag: surface, limit: 1000 })).plants).toHaveLength(101);
  });

  it.each(['', 'a&b=c d%20+', "'; --", '\u0001'])(
    'listPlants and countPlants find the tag %j',
    async (tag) => {
      const id = await create({ tag });
      expect(await list({ tag })).toMatchObject({ plants: [{ id, tag }] });
      const count = await call(server, 'countPlants', { tag });
      expect(count.output).toStrictEqual({ count: 1, isExact: true });
      await call(server, 'deletePlant', { id });
    },
  );

  it('listPlants finds the plants whose name contains each word, ignoring case', async () => {
    const id = await create({ name: `Helianthus 'Teddy Bear' 100%_\\ ${surface}` });
    for (const search of [`s 'teddy bEAR ${surface}`, ` ${surface}\t 0%_\\\n`]) {
      expect(idsOf(await list({ search }))).toEqual([id]);
    }
    expect(idsOf(await list({ search: 'PLANT -' }))).toEqual(ids.slice(0, 3));
    expect(idsOf(await list({ search: 'teddy rose' }))).toEqual([]);
  });

  it.each([-(2n ** 63n) + 1n, 9007199254740995n, 2n ** 63n - 3n])(
    'replacePlant replaces the name and the tag of the plant %s, and keeps its time of creation',
    async (id) => {
      await call(server, 'createPlant', { id, name: 'Hoya', tag: 'old' });
      const { createdAt } = Object((await getPlant(id)).output);
      const replacement = { id, name: '🌵\r\n"', tag: '' };
      const { status, headers, output } = await call(server, 'replacePlant', replacement);
      const updatedAt = expect.any(Date);
      expect(output).toMatchObject({ ...replacement, createdAt, updatedAt });
      expect([status, Object(output).updatedAt >= createdAt]).toEqual([200, true]);
      const after = await getPlant(id);
      expect(after.output).toEqual(output);
      expect(after.headers.get('etag')).toBe(headers.get('etag'));
      await call(server, 'deletePlant', { id });
    },
  );

  it('replacePlant removes the tag when the input has none, and can be repeated', async () => {
    const id = await create({ tag: 'old' });
    for (const _ of [1, 2]) {
      const { output } = await call(server, 'replacePlant', { id, name: 'Pilea' });
      expect(output).not.toHaveProperty('tag');
    }
    const recreate = (name: string) => call(server, 'createPlant', { id, name });
    expect([(await recreate('Pilea')).status, (await recreate('Hoya')).error]).toEqual([
      200, 40900,
    ]);
  });

  it('deletePlant deletes the plant, responds without a body, and frees the id', async () => {
    const id = await create({});
    const { status, output } = await call(server, 'deletePlant', { id });
    expect([status, output]).toEqual([surface === 'REST' ? 204 : 200, undefined]);
    expect((await getPlant(id)).error).toBe(40401);
    expect((await call(server, 'createPlant', { id, name: 'Pilea' })).status).toBe(200);
  });
});

it('GET writes all digits of ids, and times in UTC', async () => {
  for (const path of ['/plants/-9223372036854775808', '/plants?limit=1']) {
    const text = await (await get(server, path)).text();
    expect(text).toMatch(/"id":-9223372036854775808,/);
    expect(text).toMatch(/"createdAt":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/);
  }
});

it.each(['/plants?', '/plants', '/plants?limit=100'])('GET %s is accepted', async (path) => {
  expect((await get(server, path)).status).toBe(200);
});

it('PUT takes the id from the path, and ignores unknown properties of the body', async () => {
  const id = freeId();
  await post(server, '/plants', `{"id":${id},"name":"Hoya"}`);
  const response = await request(
    ...([server, 'PUT', `/plants/${id}`] as const),
    '{"id":6,"name":"a","name":"b","ifMatch":"1"}',
  );
  const plant = Object(await response.json());
  expect([response.status, plant]).toMatchObject([200, { id: Number(id), name: 'b' }]);
  expect(plant).not.toHaveProperty('ifMatch');
});

it('DELETE responds without a content type or a length, and ignores a body', async () => {
  const id = freeId();
  await post(server, '/plants', `{"id":${id},"name":"Hoya"}`);
  const { status, headers } = await fetch(`${server.url}/plants/${id}`, {
    ...{ method: 'DELETE', body: '{not JSON' },
    headers: { authorization: `Bearer ${server.token}` },
  });
  const lengthAndType = [headers.get('content-type'), headers.get('content-length')];
  expect([status, ...lengthAndType]).toEqual([204, null, null]);
});
